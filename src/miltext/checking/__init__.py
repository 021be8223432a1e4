"""Checking: all that is wrong with a program, in one go, on any machine."""
