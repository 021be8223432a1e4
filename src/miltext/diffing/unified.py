"""Two programs as a unified diff of their texts, lined up by structure."""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

from miltext.diffing.lining_up import EQUAL, LOOSE
from miltext.diffing.spelling import SHOWN
from miltext.diffing.telling import change_text, model_title, rename_text, shown_renames
from miltext.pairing.sequences import common, merged
from miltext.printing.tensors import Style
from miltext.syntax.programs import own_copy
from miltext.weight_files.printing import digest_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.diffing.difference import Difference
    from miltext.diffing.lining_up import Texts
    from miltext.pairing.contents import ProgramContents
    from miltext.schema.proto import Value

CONTEXT = 3
"""How many unchanged lines are shown around a change."""

_WITH_LINES = ("version", "docString", "attribute")
"""The kinds of changes of a program that show as lines of its text."""

Line: TypeAlias = "tuple[str, str]"
"""A line of a diff: ` `, `-` or `+`, and its text."""


def lines(texts: Texts) -> Iterator[Line]:
    """Yield the lines of both texts; the old one's values have their names in the new one."""
    for stretch in texts.stretches():
        if stretch.mark == LOOSE:
            yield from _aligned(stretch.old, stretch.new)
        elif stretch.mark == EQUAL:
            yield from ((" ", line) for line in stretch.new)
        else:
            yield from (("-", line) for line in stretch.old)
            yield from (("+", line) for line in stretch.new)


def draft_lines(texts: Texts) -> Iterator[Line]:
    """Yield the lines of both programs' drafts, with digests for readable weights."""
    from miltext.drafting.writing import draft_text

    style, before, new = Style(floats="decimal", elide=SHOWN), texts.old.message, texts.new.message
    if texts.same_attributes:
        before = own_copy(before)
        before.attributes.clear()
        for key, value in new.attributes.items():
            before.attributes[key].CopyFrom(value)
    sides = (before, texts.old.contents), (new, texts.new.contents)
    drafts = [draft_text(program, style, spell=partial(_digest, contents)) for program, contents in sides]
    yield from _aligned(*[draft.splitlines() for draft in drafts])


def _aligned(before: Sequence[str], now: Sequence[str]) -> Iterator[Line]:
    """Yield lines without a structure, lined up as text."""
    for i, j in merged(common(before, now), len(before), len(now)):
        yield ("+", now[j]) if i is None and j is not None else ("-" if j is None else " ", before[i or 0])


def _digest(contents: ProgramContents, value: Value) -> str | None:
    """Return the spelling of a weight in a draft; None for an unreadable one."""
    blob = contents.blob(value)
    return digest_text(blob) if blob else None


def hunks(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the lines near changes, under heads with their numbers."""
    old = new = 1
    done = 0
    for start, stop in _stretches(lines):
        old, new = old + start - done, new + start - done
        signs = [sign for sign, _ in lines[start:stop]]
        counts = len(signs) - signs.count("+"), len(signs) - signs.count("-")
        yield f"@@ -{_range(old, counts[0])} +{_range(new, counts[1])} @@"
        yield from (sign + text for sign, text in lines[start:stop])
        old, new, done = old + counts[0], new + counts[1], stop


def _stretches(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of lines that have changes, with their context."""
    changed = [place for place, (sign, _) in enumerate(lines) if sign != " "]
    start = max(0, changed[0] - CONTEXT) if changed else 0
    for place, following in zip_longest(changed, changed[1:], fillvalue=len(lines) + 2 * CONTEXT + 1):
        if following - place > 2 * CONTEXT + 1:
            yield start, min(len(lines), place + 1 + CONTEXT)
            start = following - CONTEXT


def _range(first: int, count: int) -> str:
    return f"{first}" if count == 1 else f"{first if count else first - 1},{count}"


def render_unified(difference: Difference, lines: Iterable[Line], *, are_renamed: bool) -> str:
    """Return the lines that differ, with their context, after all that has no line in a program.

    Renames are reported where the lines `are_renamed`: the old lines have the new names.
    """
    head = [*difference.notes, *([difference.verdict] if difference.same is None else [])]
    changes = [change for change in difference.changes if change.kind not in _WITH_LINES]
    head += [change_text(change, with_kind=True) for change in changes]
    for function in difference.functions if are_renamed else ():
        if function.name != function.old_name:
            head.append(f"renamed: {function.old_name} -> {function.name} (function)")
        blocks = [each for block in function.blocks for each in block.walk()]
        renamed = [*function.renamed, *(rename for block in blocks for rename in block.renamed)]
        head += [f"renamed: {rename_text(rename)}" for rename in shown_renames(renamed)]
    head += [f"{model.status}: model {model_title(model)}" for model in difference.models if not model.difference]
    shown = [f"# {line}" for line in head]
    found = list(hunks([*lines]))
    heads = [f"--- {difference.old}", f"+++ {difference.new}"] if found else []
    return "".join(f"{line}\n" for line in [*shown, *heads, *found])
