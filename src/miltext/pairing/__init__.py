"""Corresponding functions, operations and values of two Programs, by structure."""
