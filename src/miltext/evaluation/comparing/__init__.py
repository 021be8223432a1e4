"""Two runs side by side: how far apart their values are, and where that began."""
