"""Generation of valid programs: random typed graphs, from the table of operations and the rules of inference."""
