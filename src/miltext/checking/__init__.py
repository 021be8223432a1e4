"""Checking: all errors and warnings of a program at once, on any machine."""
