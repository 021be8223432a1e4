"""Which functions, operations and values of two Programs are the same, by structure."""
