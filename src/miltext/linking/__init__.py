"""Linking of several models to one."""
