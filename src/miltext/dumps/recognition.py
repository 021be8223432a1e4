"""The sign of a dump: the attributes of an operation about its backends. Most texts are not dumps, so this module needs
no parser.
"""

from __future__ import annotations

import re

SELECTED, SUPPORT, TIMES, REASONS = "SelectedBackend", "BackendSupport", "EstimatedRuntime", "ValidationMessage"
"""The attributes of an operation about its backends."""

_ATTRIBUTE = re.compile(rf"[,\[]\s*(?:{SELECTED}|{SUPPORT}|{TIMES}|{REASONS})\s*=")


def is_dump(text: str) -> bool:
    """Return whether a text is a dump, by the attributes of its operations."""
    return any(word in text for word in (SELECTED, SUPPORT)) and _ATTRIBUTE.search(text) is not None
