"""Contents of a program: the schema's messages, data types, opsets and operations."""
