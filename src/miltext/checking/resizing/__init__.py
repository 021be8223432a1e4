"""Constants that follow from changed sizes: the constants, and their values at the new sizes."""
