"""Descriptions of operations, for authors of programs, their editors, and the documentation."""
