"""Membership inference and lower bounds on epsilon, by attack."""
