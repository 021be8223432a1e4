"""What does not fit together in a compiled model, file by file."""
