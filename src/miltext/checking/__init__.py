"""Checks of programs: all errors and warnings at once, on any machine."""
