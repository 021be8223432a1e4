"""Bounds of the numbers that a program computes, without a device: ranges of values, and of partial sums."""
