"""Files: reading of their contents, and writing, whole or not at all. An import of this package is cheap."""
