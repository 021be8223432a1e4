"""The contents of programs: the schema's messages, data types, opsets and operations."""
