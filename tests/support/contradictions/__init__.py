"""Contradictions between the parts of a package, drawn by a seed, which `check` must report."""
