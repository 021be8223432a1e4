"""Pipelines: the connections of their models, and new names for the connected features."""
