"""Files of models that verbs read: an input is a line with the kind of file and the verb, and then the file's bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

from support.damage import KINDS, OTHER, damaged, make_scene, run

from fuzz import messages, texts
from miltext.schema.proto import Model, Program

Change = Callable[[Random, bytes, Sequence[bytes]], bytes]


def _damaged(random: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    return damaged(random, data) if data else random.choice(pool)


_MODEL, _PROGRAM = partial(messages.changed, Model), partial(messages.changed, Program)
CHANGES: dict[str, Change] = {
    **dict.fromkeys(["mlmodel", "odd mlmodel", "pipeline", "mlpackage"], _MODEL),
    "pb": _PROGRAM,
    "bundle's text": texts.changed,
}
"""How the bytes of a kind of file are changed, where that is not by damage anywhere."""


def joined(kind: str, verb: str, data: bytes) -> bytes:
    """Return the input of a file."""
    return f"{kind}: {verb}\n".encode() + data


def parted(data: bytes) -> tuple[str, str, bytes] | None:
    """Return the kind, the verb and the bytes of an input; None of one that has not a kind and a verb of it."""
    head, _, rest = data.partition(b"\n")
    kind, _, verb = head.decode(errors="replace").partition(": ")
    return (kind, verb, rest) if kind in KINDS and verb in KINDS[kind].calls else None


def changed(random: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Return an input with another verb, or other bytes in the file."""
    parts = parted(data)
    if parts is None:
        return random.choice(pool)
    kind, verb, content = parts
    verb = random.choice(KINDS[kind].calls) if random.random() < 0.5 else verb
    others = [each[2] for each in map(parted, pool) if each and each[0] == kind] or [content]
    for _ in range(random.choice([1, 1, 1, 2])):
        change = _damaged if random.random() < 0.3 else CHANGES.get(kind, _damaged)
        content = change(random, content, others)
    return joined(kind, verb, content)


def seeds(*kinds: str) -> Iterator[bytes]:
    """Yield the whole files of these kinds, each with its first verb."""
    with tempfile.TemporaryDirectory() as folder:
        make_scene(Path(folder))
        for kind in kinds:
            yield joined(kind, KINDS[kind].calls[0], (Path(folder) / KINDS[kind].file).read_bytes())


@contextmanager
def scene() -> Iterator[Callable[[bytes], None]]:
    """Give the law of inputs: a verb reads a file or refuses it, in a folder of its own that is made anew if not."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as top:
        folders = iter(range(1 << 30))

        def enter() -> Path:
            folder = Path(top) / str(next(folders))
            folder.mkdir()
            make_scene(folder)
            os.chdir(folder)
            return folder

        folder = enter()

        def holds(data: bytes) -> None:
            nonlocal folder
            try:
                _check(data, folder)
            except BaseException:
                folder = enter()
                raise

        try:
            yield holds
        finally:
            os.chdir(before)


def _check(data: bytes, folder: Path) -> None:
    parts = parted(data)
    if parts is None:
        return
    kind, verb, content = parts
    path = folder / KINDS[kind].file
    whole = path.read_bytes()
    path.write_bytes(content)
    case = run(verb, content, folder)
    if case.outcome == OTHER:
        raise AssertionError(f"{verb}: {case.story}") from case.cause
    path.write_bytes(whole)
