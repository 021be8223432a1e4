"""A Program to MIL text."""
