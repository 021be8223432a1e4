"""The settings of a project: `[tool.miltext]` in its pyproject.toml."""
