"""Drafts and models: `building`, a draft to a model; `writing`, a Program to a draft. Importing it costs nothing."""
