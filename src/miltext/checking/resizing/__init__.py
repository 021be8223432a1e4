"""Constants that depend on changed sizes, and their values at the new sizes."""
