"""Excursion sets, on which a function exceeds a threshold, estimated from released paths."""
