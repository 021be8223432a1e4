"""TOML, read with the place of each mistake."""
