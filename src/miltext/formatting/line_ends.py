"""Line ends: a text that is written anew keeps those of the text that it was made from."""

from __future__ import annotations


def keep_line_ends(original: str, text: str) -> str:
    """A text of plain newlines with the line ends of another, CRLF or LF: its first line decides for all."""
    first, newline, _ = original.partition("\n")
    return text.replace("\n", "\r\n") if newline and first.endswith("\r") else text
