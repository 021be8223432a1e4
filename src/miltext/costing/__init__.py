"""The costs of running a model: multiply-accumulates, bytes read and written, and the memory of its values."""
