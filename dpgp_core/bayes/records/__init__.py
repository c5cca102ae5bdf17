"""Inference where every record has a column of its own: inputs are public."""
