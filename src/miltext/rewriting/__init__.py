"""Rewriting of programs by rules written in MIL, and search for their patterns."""
