"""Wrong counts and names in the analytics of a compiled model."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.checking.findings import LONG
from miltext.compiled.analytics import FILE_NAME, HASH, NAME, SOURCE
from miltext.diagnostics import codes, warning
from miltext.diagnostics.wording import listed
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from miltext.compiled.analytics import Tables
    from miltext.compiled.stated import CompiledSource
    from miltext.diagnostics import Diagnostic


_SIZE_OF_HASH = 32


def table_findings(said: Tables, expected: Tables, is_stage: bool) -> Iterator[Diagnostic]:
    """Yield differences of a model's tables, or of a stage's, from the `expected` ones, and entries beyond those."""
    free: dict[str, dict[str, str]] = {} if is_stage else {SOURCE: dict.fromkeys((HASH, NAME), "")}
    wanted, found = _flat({**expected, **free}), _flat(said)
    lacking = [key for key in wanted if key not in found]
    if lacking:
        yield warning(codes.MISFIT_ANALYTICS, f"{FILE_NAME} lacks {listed(lacking, 'and')}")
    for key, text in _flat(expected).items():
        if found.get(key, text) != text:
            yield warning(
                codes.MISFIT_ANALYTICS, f"{FILE_NAME} has `{shown(found[key], LONG)}` for `{key}` instead of `{text}`"
            )
    odd = [key for key in found if key not in wanted]
    odd += [name for name, table in said.items() if not table and name not in wanted]
    if odd:
        names = listed((shown(key, LONG) for key in odd), "and")
        yield warning(
            codes.MISFIT_ANALYTICS, f"{FILE_NAME} has {names}, which the compiler does not write for such a model"
        )


def _flat(tables: Tables) -> dict[str, str]:
    return {f"{name}.{key}": text for name, table in tables.items() for key, text in table.items()}


def source_findings(said: Tables, source: CompiledSource | None) -> Iterator[Diagnostic]:
    """Yield a malformed hash, and entries about another file than the `source`, if known."""
    table = said.get(SOURCE, {})
    stated, name = table.get(HASH), table.get(NAME)
    if stated is None:
        return
    quoted = f"`{shown(stated, LONG)}`"
    if source is not None and stated != source.hash:
        message = f"{FILE_NAME} has the hash {quoted} of its source, but the given source has another hash"
        yield warning(codes.MISFIT_ANALYTICS, f"{message}: compile the source again, or name the right source")
    elif not _is_hash(stated):
        yield warning(
            codes.MISFIT_ANALYTICS,
            f"{FILE_NAME} has {quoted} for the hash of its source, not a SHA-256 in base64",
        )
    elif source is not None and name is not None and name != source.name:
        message = f"{FILE_NAME} names the source `{shown(name, LONG)}`, but the given source is `{source.name}`"
        yield warning(codes.MISFIT_ANALYTICS, message)._replace(severity="note")
    if name == "":
        yield warning(codes.MISFIT_ANALYTICS, f"{FILE_NAME} has no name of its source")


def _is_hash(text: str) -> bool:
    try:
        return len(b64decode(text, validate=True)) == _SIZE_OF_HASH
    except ValueError:
        return False
