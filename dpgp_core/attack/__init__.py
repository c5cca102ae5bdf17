"""Attacks on releases: membership inference, and empirical lower bounds on epsilon."""
