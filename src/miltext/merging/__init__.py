"""Three versions of a text or of a model made one, operation by operation."""
