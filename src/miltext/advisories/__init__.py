"""Known faults of Core ML and coremltools, and the places of a program that they concern."""
