"""Computation of a program in numpy: the reference evaluator, on any machine."""
