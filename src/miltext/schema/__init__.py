"""What a program may hold: the schema's messages, data types, opsets and operations."""
