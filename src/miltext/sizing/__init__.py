"""Sizes of models: bytes by scope, by operation and by weight, and their growth."""
