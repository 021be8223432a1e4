"""MIL text to a Program."""
