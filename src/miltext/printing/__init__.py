"""Printing of a Program as MIL text."""
