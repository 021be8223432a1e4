"""Drafts and models: `building`, a draft to a model; `writing`, a Program to a draft.

An import of this package is cheap.
"""
