"""Parsing of MIL text into a Program."""
