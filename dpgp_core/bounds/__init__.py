"""Bounds that nobody knows, bought with a share of the budget: a noisy histogram of outcomes, and bounds from it."""
