"""Weights: weight files read and written, and the values that name them."""
