"""Contradictions in a compiled model, file by file."""
