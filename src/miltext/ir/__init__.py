"""A Program as a graph: operations, their outputs, and the uses of each value."""
