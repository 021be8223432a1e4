"""Conversion of programs from fp32 to fp16, and back."""
