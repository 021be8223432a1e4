"""A Program as a graph: operations, the values that they make, and the uses of each value."""
