"""What a program computes, in numpy: the reference evaluator, on any machine."""
