"""Drafts and models: `building`, a draft to a model. Importing this package costs nothing."""
