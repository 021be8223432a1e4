"""Valid programs without end: random typed graphs, made by the table of operations and the rules of inference."""
