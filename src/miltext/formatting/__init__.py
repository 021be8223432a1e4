"""MIL text to MIL text in the canonical layout."""
