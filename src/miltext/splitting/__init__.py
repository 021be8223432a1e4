"""Division of a model into parts, each a model."""
