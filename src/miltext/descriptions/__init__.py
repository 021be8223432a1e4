"""Descriptions as text: what stands around a model's program, as TOML that reads back to the same messages."""
