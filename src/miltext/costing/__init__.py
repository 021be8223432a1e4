"""What a model costs to run: multiply-accumulates, bytes read and written, and the memory of its values."""
