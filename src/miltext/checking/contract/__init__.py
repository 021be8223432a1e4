"""The contract between the parts of a model: program, description, weight files, manifest and stages."""
