"""Comparison of two runs: the distances of their values, and the origins of these distances."""
