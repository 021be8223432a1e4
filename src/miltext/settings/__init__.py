"""The `[tool.miltext]` of a project: what its pyproject.toml asks for."""
