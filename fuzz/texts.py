"""MIL texts: the words that they are made of, random changes of them, and their pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

from support.damage import damaged
from support.gaps import FORMS, commented, tokens
from support.tampering import ODD_TOKENS, TOKEN, tampered

from miltext import MiltextError
from miltext.parsing.parser import parse_tree
from miltext.schema.opsets import OPSETS
from miltext.syntax.tree import Node, walk
from miltext.syntax.vocabulary import keywords, operation_names, parameter_names, type_names

LONGEST = 1 << 15
"""Characters of a text that phrases are put into."""


@cache
def words() -> list[str]:
    """Return what texts are made of, from the tables: the grammar's words, data types, opsets, operations, parameters,
    and tokens that are odd.
    """
    kinds = [word for kind in keywords() for word in kind]
    opsets = [name for opset in OPSETS for name in (opset.text, opset.proto)]
    return sorted({*ODD_TOKENS, *kinds, *type_names(), *opsets, *operation_names(), *parameter_names()})


def decoded(data: bytes) -> str:
    """Return the text of any bytes; what is not UTF-8 are surrogates in it."""
    return data.decode(errors="surrogateescape")


def encoded(text: str) -> bytes:
    """Return the bytes of any text, `decoded` or not."""
    return text.encode(errors="surrogateescape" if re.search("[\udc80-\udcff]", text) else "replace")


def changed(random: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Return a text with a few random changes; phrases of the texts of `pool` may be put into it."""
    text = decoded(data)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        way = random.choice([_tampered, _tampered, _grafted, _grafted, _commented, _respelled, _joined])
        text = way(random, text, pool)
    return damaged(random, encoded(text)) if random.random() < 0.05 else encoded(text)


def _tampered(random: Random, text: str, pool: Sequence[bytes]) -> str:
    return tampered(random, text, ODD_TOKENS if random.random() < 0.5 else words())


def _grafted(random: Random, text: str, pool: Sequence[bytes]) -> str:
    """Put a phrase of a text in place of one of its kind."""
    here, there = _phrases(text), _phrases(decoded(random.choice(pool)))
    kinds = sorted({*here} & {*there})
    if not kinds:
        return text
    kind = random.choice(kinds)
    start, end = random.choice(here[kind])[:2]
    return text[:start] + random.choice(there[kind])[2] + text[end:]


def _phrases(text: str) -> dict[str, list[tuple[int, int, str]]]:
    """Return the phrases of a text by their kinds; none of one that cannot be read, or is long."""
    found: dict[str, list[tuple[int, int, str]]] = {}
    for node in _nodes(text):
        found.setdefault(node.name, []).append((node.start, node.end, text[node.start : node.end]))
    return found


def _nodes(text: str) -> Iterator[Node]:
    if len(text) < LONGEST:
        try:
            yield from walk(parse_tree(text).root)
        except MiltextError:
            return


def _commented(random: Random, text: str, pool: Sequence[bytes]) -> str:
    """Put comments into a few of its gaps, or into all."""
    try:
        gaps = len(tokens(text)) if len(text) < LONGEST else 0
    except MiltextError:
        return text
    chosen = range(gaps) if random.random() < 0.1 else [random.randrange(gaps) for _ in range(min(gaps, 4))]
    return commented(text, {gap: random.choice(FORMS) for gap in chosen})


NUMBERS = "0 -0.0 1 -1 7 1e400 1e-400 0x1p+0 nan inf -inf $0x7f800001 4294967296 9223372036854775808 3.5 ? true".split()


def _respelled(random: Random, text: str, pool: Sequence[bytes]) -> str:
    """Put another number or name in place of one."""
    found = list(re.finditer(r"(?<![\w.])-?\d[\w.+]*|\b[a-z]\w*", text))
    if not found:
        return text
    start, end = random.choice(found).span()
    word = random.choice(NUMBERS) if text[start] in "-0123456789" else random.choice(found)[0]
    return text[:start] + word + text[end:]


def _joined(random: Random, text: str, pool: Sequence[bytes]) -> str:
    """Take the end of its lines from another text."""
    lines, others = text.splitlines(keepends=True), decoded(random.choice(pool)).splitlines(keepends=True)
    return "".join(lines[: random.randint(0, len(lines))] + others[random.randint(0, len(others)) :])


def by_lines(data: bytes) -> list[bytes]:
    """Return the lines of a text, for minimising."""
    return data.splitlines(keepends=True)


def by_tokens(data: bytes) -> list[bytes]:
    """Return the tokens of a text, and what is between them."""
    return [encoded(token) for token in TOKEN.findall(decoded(data))]


def by_bytes(data: bytes) -> list[bytes]:
    """Return each byte."""
    return [data[place : place + 1] for place in range(len(data))]
