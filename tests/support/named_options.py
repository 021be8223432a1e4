"""The options of the command in a message, which a message of the library does not contain."""

from __future__ import annotations

import re

OPTION = re.compile(r"(?<![\w-])(?:--[a-z][\w-]*|-o\b)")
WHOLE_COMMAND = re.compile("`(?:miltext|git|pip) [^`]*`")


def named_options(text: str) -> list[str]:
    """Return the options in a message, outside of whole commands."""
    return OPTION.findall(WHOLE_COMMAND.sub("", text))
