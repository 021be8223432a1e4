"""MIL text as tokens, phrases, names and literals."""
