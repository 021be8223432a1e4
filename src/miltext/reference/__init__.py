"""The meaning of each operation, in words: for authors of programs, their editors, and the documentation."""
