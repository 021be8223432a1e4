"""Compiling: the folder that Apple's compiler would write for a model."""
