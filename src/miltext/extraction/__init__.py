"""The part of a program between values, by itself."""
