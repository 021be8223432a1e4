"""The functions, operations and values of two Programs that correspond by structure."""
