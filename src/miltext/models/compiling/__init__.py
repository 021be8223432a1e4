"""Compiled models: the folder that Apple's compiler would write of a model."""
