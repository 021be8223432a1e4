"""Expressions that take the grammar's coarse tokens apart, for all who read those.

The terminals are stricter: what they let pass matches, so that names and types need no exact spelling here.
"""

from __future__ import annotations

import re

PLAIN_NAME = "[A-Za-z0-9_@]+"
PLAIN_TYPE = r"tensor[^>]*>|[a-z0-9]+"

operation_parts = re.compile(
    rf"({PLAIN_TYPE})\s*({PLAIN_NAME})\s*=\s*({PLAIN_NAME})\s*(\([^)]*\))(.*);", re.DOTALL
).fullmatch
"""Type and name of the output, the operation's type, its arguments, and its attributes with the space round them."""

argument_pairs = re.compile(rf"({PLAIN_NAME})\s*=\s*({PLAIN_NAME})").findall
"""The pairs of an argument list."""
