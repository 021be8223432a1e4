"""What makes inputs: atheris, which is guided by the coverage of miltext, or without it a plain loop."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple, NoReturn

if TYPE_CHECKING:
    from fuzz.targets import Target

LONGEST = 1 << 16
"""Bytes of an input that atheris makes."""

OWN = 0.1
"""The part of inputs that libFuzzer changes by itself, with its dictionary and what comparisons ask for."""


class Folders(NamedTuple):
    """Where libFuzzer keeps inputs from run to run, and where it finds the seeds."""

    corpus: Path
    seeds: Path


def engines() -> list[str]:
    """Return the names of those that are there, the best first."""
    return ["atheris", "plain"] if find_spec("atheris") else ["plain"]


def instrumented(engine: str) -> AbstractContextManager[object]:
    """Return where miltext has to be imported for an engine to see what is covered."""
    if engine == "plain":
        return nullcontext()
    import atheris

    return atheris.instrument_imports(include=["miltext"])  # type: ignore[no-any-return]


def plain(target: Target, trial: Callable[[bytes], None], seed: int, until: float) -> None:
    """Try the seeds, and then random changes of them."""
    random, pool = Random(seed), list(target.seeds())
    for data in pool:
        trial(data)
    while time.monotonic() < until:
        trial(target.changed(random, random.choice(pool), pool))


def guided(
    target: Target, trial: Callable[[bytes], None], seed: int, until: float, folders: Folders, done: Callable[[], None]
) -> NoReturn:
    """Try what atheris makes of the seeds and of the corpus, to which it adds; call `done`, and end the process."""
    import atheris

    pool = list(target.seeds())
    corpus, seeds = folders
    shutil.rmtree(seeds, ignore_errors=True)
    seeds.mkdir(parents=True)
    corpus.mkdir(parents=True, exist_ok=True)
    for index, data in enumerate(pool):
        (seeds / str(index)).write_bytes(data)

    def test(data: bytes) -> None:
        if time.monotonic() > until:
            done()
            os._exit(0)  # libFuzzer has no other end that a test can ask for
        trial(data)

    def change(data: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)
        made = atheris.Mutate(data, most) if random.random() < OWN else target.changed(random, data, pool)
        return bytes(made[:most])

    atheris.Setup(["fuzz", *_options(seed, seeds, target.words), str(corpus), str(seeds)], test, custom_mutator=change)
    atheris.Fuzz()
    raise AssertionError("libFuzzer came back")


def _options(seed: int, seeds: Path, words: Sequence[str]) -> list[str]:
    """Return libFuzzer's options: time and memory are measured here, and its corpus is read anew for other jobs."""
    limits = [f"-max_len={LONGEST}", "-len_control=0", "-rss_limit_mb=0", "-timeout=3600"]
    files = [f"-artifact_prefix={seeds}/", *_dictionary(seeds.with_suffix(".words"), words)]
    return [f"-seed={seed}", "-reload=1", *limits, *files]


def _dictionary(path: Path, words: Sequence[str]) -> list[str]:
    """Write words as libFuzzer reads them, and return its option; nothing where there are none."""
    if not words:
        return []
    lines = ["".join(f"\\x{byte:02x}" for byte in word.encode()) for word in words]
    path.write_text("".join(f'"{line}"\n' for line in lines))
    return [f"-dict={path}"]
