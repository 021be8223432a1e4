"""Building models from MIL text: `build` writes them, `editing` changes texts. Importing this package costs nothing."""
