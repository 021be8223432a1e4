"""The scopes of operations, and the weights in them."""
