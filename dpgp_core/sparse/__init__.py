"""Noisy sums over records and the posteriors that follow from them: inputs and outputs are protected."""
