"""Descriptions as text: the parts of a model around its program, as TOML that can be read back without loss."""
