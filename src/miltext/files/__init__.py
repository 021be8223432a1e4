"""Files: their contents read, and written whole or not at all. Importing this package costs nothing."""
