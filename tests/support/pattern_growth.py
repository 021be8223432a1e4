"""How long expressions search texts that nearly fit them: with a run of any part of such a text in it."""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as constants
    from re import _parser as parser
else:
    import sre_constants as constants
    import sre_parse as parser

LEAST = 0.01
"""Seconds of the process that say nothing yet."""

CLASSES = {
    constants.CATEGORY_DIGIT: "07",
    constants.CATEGORY_SPACE: " \n",
    constants.CATEGORY_WORD: "a1_",
    constants.CATEGORY_NOT_DIGIT: "a ,",
    constants.CATEGORY_NOT_SPACE: "a1,",
    constants.CATEGORY_NOT_WORD: " ,(",
}
ANY = " a1,(=[\n"
REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT)


def written(pattern: re.Pattern[str], random: random.Random) -> str:
    """Return a text that fits an expression, or nearly so: what it looks ahead for is written out, too."""
    groups: dict[int, str] = {}
    return "".join(_items(parser.parse(pattern.pattern, pattern.flags), random, groups))


def _items(items: Any, random: random.Random, groups: dict[int, str]) -> Iterator[str]:
    for kind, value in items:
        if kind in (constants.LITERAL, constants.NOT_LITERAL):
            yield chr(value) if kind is constants.LITERAL else random.choice([c for c in ANY if ord(c) != value])
        elif kind is constants.ANY:
            yield random.choice(ANY)
        elif kind is constants.IN:
            yield _one_of(value, random)
        elif kind is constants.BRANCH:
            yield from _items(random.choice(value[1]), random, groups)
        elif kind is constants.SUBPATTERN:
            found = "".join(_items(value[3], random, groups))
            if value[0] is not None:
                groups[value[0]] = found
            yield found
        elif kind is constants.GROUPREF:
            yield groups.get(value, "")
        elif kind in REPEATS or kind.name == "POSSESSIVE_REPEAT":
            least, _, inner = value
            for _ in range(least + random.randrange(3)):
                yield from _items(inner, random, groups)
        elif kind is constants.ASSERT and value[0] > 0:
            yield from _items(value[1], random, groups)


def _one_of(items: Any, random: random.Random) -> str:
    if items[0][0] is constants.NEGATE:
        refused = re.compile(f"[{''.join(map(_spelled, items[1:]))}]")
        return random.choice([each for each in ANY + "z" if not refused.match(each)] or ["z"])
    kind, value = random.choice(items)
    if kind is constants.LITERAL:
        return chr(value)
    return chr(random.choice(value)) if kind is constants.RANGE else random.choice(CLASSES[value])


def _spelled(item: tuple[Any, Any]) -> str:
    kind, value = item
    if kind is constants.LITERAL:
        return re.escape(chr(value))
    if kind is constants.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {"0": r"\d", " ": r"\s", "a": r"\w"}.get(CLASSES[value][0], "")


def seconds(run: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    run(text)
    return time.process_time() - start


SIZES = (12, 20, 28, 36, 44, 64, 96, 128, 192, 256, 384, 768)
"""They grow slowly at first: what doubles the time with each character is seen before it never ends."""


def grown_too_fast(run: Callable[[str], object], text_of: Callable[[int], str], times: float) -> int | None:
    """Return a size at which a text takes more than `times` what half of it does; None where none does."""
    for size in SIZES:
        if seconds(run, text_of(size)) > LEAST and all(_has_grown(run, text_of, size, times, n) for n in (3, 3, 10)):
            return size
    return None


def _has_grown(run: Callable[[str], object], text_of: Callable[[int], str], size: int, times: float, runs: int) -> bool:
    """Compare the least times of some runs: one comparison may hit a moment when the machine is busy."""
    whole, half = (min(seconds(run, text_of(part)) for _ in range(runs)) for part in (size, size // 2))
    return whole > max(LEAST, times * half)


def runs(pattern: re.Pattern[str], random: random.Random) -> Iterator[Callable[[int], str]]:
    """Yield texts by their size, each with a run of one of its own parts in it, and with an end that may not fit."""
    text = written(pattern, random)
    start = random.randrange(len(text) + 1)
    unit = text[start : start + random.randrange(1, 9)] or random.choice(ANY)
    for end in (text[start:], "\0"):
        yield lambda size, end=end: text[:start] + (unit * (size // len(unit) + 1))[:size] + end  # type: ignore[misc]
