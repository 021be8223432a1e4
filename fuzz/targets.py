"""The table of targets: the seeds of each, how inputs are changed and made smaller, and what must hold of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from random import Random
from typing import Any, NamedTuple

from conftest import EXAMPLE
from google.protobuf import text_format
from support.damage import damaged
from support.mutations import MUTATIONS

from fuzz import GOLDEN, files, laws, messages, texts
from fuzz.minimizing import Cut, joined
from miltext.generation.programs import generate
from miltext.parsing.parser import attempt
from miltext.reference.entries import entries
from miltext.schema.proto import Model, Program


class Target(NamedTuple):
    """What is fuzzed. `opened` gives the law, with the folders that it works in; `suffix` is that of its inputs."""

    says: str
    suffix: str
    seeds: Callable[[], Iterator[bytes]]
    changed: Callable[[Random, bytes, Sequence[bytes]], bytes]
    opened: Callable[[], AbstractContextManager[laws.Law]]
    cuts: tuple[Cut, ...]
    words: Sequence[str] = ()


# ---- texts

LONGEST = 1 << 14
"""Bytes of a seed."""


def _texts() -> Iterator[bytes]:
    """Yield the goldens, the examples of all operations, and the texts of people."""
    paths = [*GOLDEN.glob("*/*.mil"), *GOLDEN.glob("diff/*/*.mil"), *(EXAMPLE.parent / "tutorial").glob("*.mil")]
    yield from (data for path in sorted(paths) if len(data := path.read_bytes()) < LONGEST)


def _examples() -> Iterator[bytes]:
    yield from (each.text.encode() for entry in entries().values() for each in entry.examples)


def _drafts() -> Iterator[bytes]:
    yield from _texts()
    yield from _examples()


TEXT_CUTS = tuple(map(joined, (texts.by_lines, texts.by_tokens, texts.by_bytes)))


# ---- messages


def _cut_fields(kind: Callable[[], Any], data: bytes) -> tuple[Sequence[Any], Callable[[Sequence[Any]], bytes]]:
    """Cut a message into its fields; what cannot be read, into its bytes."""
    whole = messages.read(kind, data)
    if whole is None:
        return texts.by_bytes(data), b"".join

    def made(kept: Sequence[messages.Site]) -> bytes:
        part = kind()
        part.CopyFrom(whole)
        messages.keep(part, set(kept))
        return messages.wire(part)

    return list(messages.sites(whole)), made


def _programs() -> Iterator[bytes]:
    """Yield the Programs of goldens, of texts that are read, and of the example."""
    for path in sorted(GOLDEN.glob("print/*.txtpb")):
        yield messages.wire(text_format.Parse(path.read_text(encoding="utf-8"), Program()))
    read = (attempt(texts.decoded(data)) for data in _texts())
    yield from (messages.wire(program) for program in read if program is not None)


def _examined() -> Iterator[bytes]:
    """Yield those, and generated ones."""
    yield from _programs()
    yield from (messages.wire(generate(seed, laws.GENERATED)) for seed in range(100))


def _broken(random: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Break a Program in a known way, or change its fields anyhow."""
    made = messages.read(Program, data)
    if made is None or not made.functions or random.random() < 0.5:
        return messages.changed(Program, random, data, pool)
    try:
        places = random.choice(list(MUTATIONS.values()))(random, made)
    except (LookupError, AttributeError):  # it is made for valid Programs
        places = None
    return messages.changed(Program, random, data, pool) if places is None else messages.wire(made)


def _choices() -> Iterator[bytes]:
    """Yield bytes that choose Programs of several sizes."""
    random = Random(0)
    yield from (random.randbytes(size) for size in (4, 16, 64, 256, 1024) for _ in range(12))


def _rechosen(random: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Choose otherwise in one place, or more and fewer."""
    return damaged(random, data) if data and random.random() < 0.8 else data + random.randbytes(16)


def _models() -> Iterator[bytes]:
    yield from (files.parted(seed)[2] for seed in files.seeds("mlpackage", "pipeline", "odd mlmodel"))  # type: ignore[index]


# ---- the table

LOADED = """
    mil/txtpb/pb/mlmodel/pipeline/mlpackage/manifest/bundle's text/coremldata.bin/metadata.json/metadata.json alone/
    analytics/pipeline's coremldata.bin/names/stage/description/sidecar/lfs pointer
"""
WEIGHTS = "weights/weight file/bundle's weights/npy/npz/safetensors/input/inputs/states"


def _kinds(names: str) -> Callable[[], Iterator[bytes]]:
    return partial(files.seeds, *(name.strip() for name in names.split("/")))


def _of_texts(law: laws.Law, seeds: Callable[[], Iterator[bytes]] = _texts) -> Target:
    return Target(str(law.__doc__), ".mil", seeds, texts.changed, lambda: nullcontext(law), TEXT_CUTS, texts.words())


def _of_programs(law: laws.Law, seeds: Callable[[], Iterator[bytes]], changed: Any) -> Target:
    cuts = (partial(_cut_fields, Program),)
    return Target(str(law.__doc__), ".pb", seeds, changed, lambda: nullcontext(law), cuts)


def _of_files(says: str, names: str) -> Target:
    return Target(says, ".file", _kinds(names), files.changed, files.scene, TEXT_CUTS)


TARGETS: dict[str, Target] = {
    "parse": _of_texts(laws.parses),
    "print": _of_programs(laws.prints, _programs, partial(messages.changed, Program)),
    "format": _of_texts(laws.formats, _drafts),
    "check": _of_texts(laws.checks, _drafts),
    "verify": _of_programs(laws.verifies, _examined, _broken),
    "load": _of_files("The files of models, each with a verb: it reads the file or refuses it.", LOADED),
    "weights": _of_files("Files of weights and arrays, each with a verb: it reads the file or refuses it.", WEIGHTS),
    "build": Target(
        str(laws.builds.__doc__),
        ".mlmodel",
        _models,
        partial(messages.changed, Model),
        laws.builds,
        (partial(_cut_fields, Model),),
    ),
    "evaluate": _of_texts(laws.evaluates, _examples),
    "generate": Target(
        str(laws.generates.__doc__),
        ".choices",
        _choices,
        _rechosen,
        lambda: nullcontext(laws.generates),
        (joined(texts.by_bytes),),
    ),
}
