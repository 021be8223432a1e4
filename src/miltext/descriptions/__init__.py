"""Descriptions as text: the parts of a model around its program, as TOML that reads back to the same messages."""
