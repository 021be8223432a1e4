"""What each operation is, in words: for those who write programs, their editors, and the documentation."""
