"""References in a text to arrays in files beside it."""

from __future__ import annotations

from typing import NamedTuple

from miltext.syntax.literals import quote


class ArrayReference(NamedTuple):
    """A reference to an array in a text: `$npy("w.npy")`, `fp16 $npz("w.npz", "key")`.

    `file` is relative to the text's folder; `dtype` is the name of the data type in the text, None for the data type of
    the file.
    """

    kind: str
    file: str
    key: str | None = None
    dtype: str | None = None

    def __str__(self) -> str:
        parts = [quote(part) for part in (self.file, self.key) if part is not None]
        return f"{self.dtype + ' ' if self.dtype else ''}{self.kind}({', '.join(parts)})"
