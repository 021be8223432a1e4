"""Change texts in hostile ways, and have the verbs read them: `python scripts/try_hostile.py`.

No text may keep `parse`, `check` or `fmt` for longer than a second a kilobyte, or end one in a traceback. `parse`,
`check`, `infer` and, of each so many-th text, `build` have to agree whether a text is taken, and what its first error
is. The script counts what fails, shows the shortest text of each kind of failure, and saves them in the folder that
--save names. It needs the tests' requirements, and a system with timers.
"""

from __future__ import annotations

import signal
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from miltext.diagnostics import Span

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from support.grammar_phrases import AROUND as AROUND_STATEMENTS
from support.grammar_phrases import GIVEN, LITERALS, NAMES, STATEMENTS
from support.laws.checking import agree_on_first, build_agrees, check_places, first_error

import miltext
from fuzz.targets import TARGETS
from fuzz.texts import by_tokens, changed, decoded, encoded
from miltext import Diagnostic, MiltextError, ParseError

PER_KILOBYTE = 1.0
"""Seconds of the process that a verb may take for each kilobyte of a text, and for one that is shorter."""

LONGEST = 1 << 14
"""Bytes of a text that is changed; a `long` one has as many again."""


class Slow(Exception):
    """A verb takes longer than it may."""


class Case(NamedTuple):
    """A text, and how it was made."""

    kind: str
    text: str


# ---- how texts are made hostile


def mutated(random: Random, seed: bytes, pool: list[bytes]) -> str:
    """Change a text a few times as the fuzzer does."""
    return decoded(changed(random, seed, pool))


def unbracketed(random: Random, seed: bytes, pool: list[bytes]) -> str:  # noqa: ARG001  # all have the same signature
    """Leave brackets out, put others in their places, or leave all of a text behind one out."""
    tokens = by_tokens(seed)
    brackets = [at for at, token in enumerate(tokens) if token[:1] in b"()[]{}<>" and token]
    for at in random.sample(brackets, min(len(brackets), random.randrange(1, 6))):
        tokens[at] = random.choice([b"", b"", *(bytes([each]) for each in b"()[]{}<>,;=")])
    if random.random() < 0.2 and brackets:
        del tokens[random.choice(brackets) :]
    return decoded(b"".join(tokens))


def long(random: Random, seed: bytes, pool: list[bytes]) -> str:  # noqa: ARG001
    """Repeat a few tokens of a text, or of what it does not have, in one of its gaps."""
    tokens = by_tokens(seed)
    start = random.randrange(len(tokens) + 1)
    end = start + random.randrange(1, 9)
    odd = random.choice(
        [b" ", b"\n", b"1", b"10, ", b"a", b"x.", b"[", b"(", b"{", b"/*", b"\\", b'"', b"-", b"$", b"_ "]
    )
    unit = b"".join(tokens[start:end]) if random.random() < 0.6 else odd
    count = random.choice([30, 80, 300, 2000, LONGEST]) // max(len(unit), 1)
    return decoded(b"".join([*tokens[:start], unit * max(count, 2), *tokens[start:]]))


def drafted(random: Random, seed: bytes, pool: list[bytes]) -> str:
    """Write a draft with odd names and literals; change it, too, as a rule."""
    statements = []
    for _ in range(random.randrange(1, 5)):
        gaps, words = random.choice([(STATEMENTS, NAMES), (GIVEN, LITERALS)])
        statement = random.choice(gaps)
        found = [random.choice(words) for _ in range(statement.count("{}"))]
        depth = random.choice([0, 0, 0, 0, 1, 3, 990]) if gaps is GIVEN and random.random() < 0.3 else 0
        statements.append(statement.format(*("[" * depth + each + "]" * depth for each in found)))
    text = AROUND_STATEMENTS.format(" ".join(statements))
    return mutated(random, encoded(text), [seed, *pool]) if random.random() < 0.7 else text


KINDS: dict[str, Callable[[Random, bytes, list[bytes]], str]] = {
    "mutated": mutated,
    "unbracketed": unbracketed,
    "long": long,
    "drafted": drafted,
}


def cases(kinds: list[str], first: int, count: int) -> Iterator[Case]:
    """Yield texts: the same number has the same."""
    pool = [seed for seed in TARGETS["check"].seeds() if len(seed) < LONGEST]
    for number in range(first, first + count):
        random = Random(number)
        kind = kinds[number % len(kinds)]
        yield Case(kind, KINDS[kind](random, random.choice(pool), random.sample(pool, 3)))


# ---- what must hold


class Read(NamedTuple):
    """What a verb returned, or None where it refused a text, with what it said of that; and the share of its time."""

    result: Any
    refused: list[Diagnostic]
    share: float

    @property
    def error(self) -> tuple[str, Span | None] | None:
        """The first error that a text was refused for."""
        return first_error(self.refused)


def within(text: str, verb: Callable[[str], Any]) -> Read:
    """Have a verb read a text. Raise Slow where it takes longer than it may."""
    most = PER_KILOBYTE * max(len(text.encode(errors="surrogatepass")) / 1024, 1)
    result, refused = None, []
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    start = time.process_time()
    try:
        result = verb(text)
    except ParseError as said:
        refused = said.diagnostics
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return Read(result, refused, (time.process_time() - start) / most)


def agree(text: str, read: Mapping[str, Read], *, builds: bool) -> None:
    """Fail where the verbs do not agree on a text."""
    found = read["check"].result
    check_places(text, found)
    if read["parse"].refused:
        agree_on_first(text, read["parse"].refused, found)
    assert read["infer"].error == first_error(found), "`infer` and `check` disagree"
    if builds:
        build_agrees(text)


VERBS: dict[str, Callable[[str], Any]] = {
    "parse": miltext.parse,
    "check": miltext.check,
    "format": miltext.format_text,
    "infer": miltext.infer_draft,
}


def failure(case: Case, slowest: Counter[str], *, builds: bool) -> str | None:
    """Return what is wrong with the verbs on a text, in words that are the same for the same cause."""
    read: dict[str, Read] = {}
    try:
        for name, verb in VERBS.items():
            read[name] = within(case.text, verb)
            slowest[name] = max(slowest[name], round(1000 * read[name].share))
        agree(case.text, read, builds=builds)
    except Slow:
        return f"slow: {name}"
    except MiltextError as said:
        return f"{type(said).__name__}: {str(said)[:60]}"
    except Exception as fault:  # noqa: BLE001  # of whatever kind: none may come
        at = traceback.extract_tb(fault.__traceback__)[-1]
        return f"{type(fault).__name__} in {Path(at.filename).name}, {at.name}: {str(fault)[:90]}"
    return None


def stop(*_: object) -> None:
    raise Slow


@click.command()
@click.option("--cases", "count", default=1000, show_default=True, help="How many texts.")
@click.option("--first", default=0, show_default=True, help="The number of the first.")
@click.option("--kinds", default=",".join(KINDS), show_default=True, help="The kinds by commas, also repeated.")
@click.option("--builds", default=20, show_default=True, help="Of each so many-th text, a model is built.")
@click.option("--minutes", type=float, help="Stop after so many minutes.")
@click.option("--save", type=click.Path(path_type=Path), help="A folder for the shortest text of each failure.")
def main(count: int, first: int, kinds: str, builds: int, minutes: float | None, save: Path | None) -> None:
    """Print what failed, how often, and by which text; and the most of its time that each verb took."""
    signal.signal(signal.SIGVTALRM, stop)
    failures: Counter[str] = Counter()
    shortest: dict[str, str] = {}
    slowest: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    end = time.monotonic() + 60 * minutes if minutes else float("inf")
    for number, case in enumerate(cases(kinds.split(","), first, count)):
        if time.monotonic() > end:
            break
        tried[case.kind] += 1
        if wrong := failure(case, slowest, builds=number % builds == 0):
            failures[wrong] += 1
            shortest[wrong] = min(shortest.get(wrong, case.text), case.text, key=len)
    for wrong, times in failures.most_common():
        print(f"{times:>6}  {wrong}\n        {shortest[wrong][:400]!r}")
        if save:
            save.mkdir(parents=True, exist_ok=True)
            name = f"{zlib.crc32(wrong.encode()):08x}.mil"
            (save / name).write_bytes(encoded(shortest[wrong]))
    print(*(f"{kind}: {number} texts" for kind, number in tried.items()), sep="; ")
    print(*(f"{verb}: at most {share / 10:.1f} % of a second a kilobyte" for verb, share in slowest.items()), sep="; ")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
