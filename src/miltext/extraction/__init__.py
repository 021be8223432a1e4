"""Extraction of the part of a program between values."""
