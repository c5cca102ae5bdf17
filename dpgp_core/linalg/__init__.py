"""Matrices: dense arithmetic, columns in blocks, singular values of products."""
