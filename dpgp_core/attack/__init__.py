"""Membership inference and lower bounds on epsilon, found by attack."""
