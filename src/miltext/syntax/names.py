"""Names in MIL text: plain names, and the quotation of others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import count

from miltext.schema.dtypes import BY_NAME
from miltext.schema.opsets import PROTO_BY_TEXT, TEXT_BY_PROTO
from miltext.syntax.literals import LiteralError, quote, unquote
from miltext.syntax.memo import memo

RESERVED = frozenset({*BY_NAME, "tensor", "tensor_buffer", "list", "dict", "tuple", "state", "true", "false"})
"""The words allowed as names only when quoted: `$"bool"`."""

ARRAYS = ("$npy", "$npz", "$safetensors")
"""The words for an array in a file, by the kind of the file."""

IMPORT = "$import"
"""The word for a function of a model in a file."""

FILES = (*ARRAYS, IMPORT)
"""The words for what a build reads from files."""

DRAFT = "_"
"""The mark of an omitted output type, at the beginning of an operation; an operation of that name is quoted."""

DRAFT_WORDS = ("names", "consts", "defaults")
"""Parts that `infer` can write besides types, in the order of a text's head: `$draft(names, consts)`.

They are the attribute `name` for operations without one, a `const` for each literal argument, and the defaults of
omitted parameters.
"""

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_@]*")


@memo(1 << 15)
def name_text(name: str) -> str:
    """Return the spelling of a name in MIL text: `x`, or `$"..."` for a reserved word or a name other than an
    identifier.
    """
    return name if PLAIN.fullmatch(name) and name not in RESERVED else f"${quote(name)}"


def name_of(token: str) -> str:
    """Return the name in a token; a name with a wrong escape, which is reported elsewhere, stays unchanged."""
    try:
        return unquote(token[1:]) if token.startswith("$") else token
    except LiteralError:
        return token


def unfit(name: str) -> str:
    """Return the reason why a name needs quotes in MIL text, empty if it does not."""
    if name in RESERVED:
        return "is a reserved word"
    is_plain = PLAIN.fullmatch(name)
    return "" if is_plain else "is not an identifier: use letters, digits, `_` and `@`, and begin with a letter or `_`"


def identifier(name: str) -> str:
    """Return a name as an identifier: other characters become `_`."""
    return re.sub("[^A-Za-z0-9_@]", "_", name if not name[:1].isdigit() else f"_{name}")


def fitting(name: str, taken: Collection[str] = ()) -> str | None:
    """Return an unused identifier similar to a name; None for a name without a letter."""
    return FreshNames([*taken, *RESERVED]).fresh(name) if identifier(name).strip("_@") else None


class FreshNames:
    """Unused names, given the `taken` ones."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = {*taken}
        self._numbers: dict[str, Iterator[int]] = {}

    def fresh(self, name: str, *, first: int = 1) -> str:
        """Return an unused identifier: the name, or the name with a number after it, from `first` on."""
        name = identifier(name)
        name = f"_{name}" if name[:1] in ("", "@") else name
        if name in self.taken:
            return self.numbered(name, start=first)
        self.taken.add(name)
        return name

    def numbered(self, name: str, ending: str = "", *, start: int = 0) -> str:
        """Return a name: the name, the first number that makes it new, and the ending."""
        numbers = self._numbers.setdefault(name, count(start))
        found = next(made for number in numbers if (made := f"{name}_{number}{ending}") not in self.taken)
        self.taken.add(found)
        return found


def opset_of(token: str) -> str:
    """Return the name of an opset in a Program: CoreML8 for `ios18`; any other name, and a name in quotes, stays
    unchanged.
    """
    return PROTO_BY_TEXT.get(token) or name_of(token)


def opset_text(opset: str) -> str:
    """Return the spelling of a Program's opset in MIL text: `ios18` for CoreML8, quoted if it is literally `ios18`."""
    text = TEXT_BY_PROTO.get(opset)
    if text is None and opset in PROTO_BY_TEXT:
        return f"${quote(opset)}"
    return text or name_text(opset)
