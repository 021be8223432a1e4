"""What the analytics of a compiled model count or name otherwise than it is."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.diagnostics import warning
from miltext.models.compiling.analytics import FILE_NAME, HASH, NAME, SOURCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miltext.diagnostics import Diagnostic
    from miltext.models.compiling.analytics import Tables
    from miltext.models.compiling.stated import Source

CODE = "MIL262"

_SIZE_OF_HASH = 32


def table_findings(said: Tables, expected: Mapping[str, Mapping[str, str]], is_stage: bool) -> Iterator[Diagnostic]:
    """Yield what the tables of a model, or of a stage of one, say otherwise than is `expected`, or have besides."""
    free = {} if is_stage else {SOURCE: (HASH, NAME)}
    for table, keys in {**{name: tuple(found) for name, found in expected.items()}, **free}.items():
        for key in keys:
            wanted, found = expected.get(table, {}).get(key), said.get(table, {}).get(key)
            if found is None:
                yield warning(CODE, f"{FILE_NAME} lacks `{table}.{key}`")
            elif wanted not in (None, found):
                yield warning(CODE, f"{FILE_NAME} says `{found}` for `{table}.{key}`, but it is `{wanted}`")
    for table, found_there in said.items():
        known = {*expected.get(table, ()), *free.get(table, ())}
        odd = [key for key in found_there if key not in known]
        if table not in {**expected, **free} or odd:
            what = f"`{table}.{odd[0]}`" if odd else f"`{table}`"
            yield warning(CODE, f"{FILE_NAME} has {what}, which the compiler does not write of such a model")


def source_findings(said: Tables, source: Source | None) -> Iterator[Diagnostic]:
    """Yield a hash that is not one, and what is said of another file than the `source`, if that is known."""
    table = said.get(SOURCE, {})
    stated, name = table.get(HASH), table.get(NAME)
    if stated is None:
        return
    if source is not None and stated != source.hash:
        yield warning(CODE, f"{FILE_NAME} has the hash `{stated}` of what was compiled, which is not that of --from")
    elif not _is_hash(stated):
        yield warning(
            CODE, f"{FILE_NAME} has `{stated}` as the hash of what was compiled, which is not a SHA-256 in base64"
        )
    elif source is not None and name is not None and name != source.name:
        message = f"{FILE_NAME} calls what was compiled `{name}`; that of --from is called `{source.name}`"
        yield warning(CODE, message)._replace(severity="note")
    if name == "":
        yield warning(CODE, f"{FILE_NAME} has no name of what was compiled")


def _is_hash(text: str) -> bool:
    try:
        return len(b64decode(text, validate=True)) == _SIZE_OF_HASH
    except ValueError:
        return False
