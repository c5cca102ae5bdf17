"""Sparse DP-GP: noisy sums over records, which protect inputs and outputs, and posteriors computed from them."""
