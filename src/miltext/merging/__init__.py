"""Three-way merges of texts and models, operation by operation."""
