"""Pipelines: which model gives what to which, and new names for what they give."""
