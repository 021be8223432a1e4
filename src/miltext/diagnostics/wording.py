"""Parts of sentences that messages share: names in a row, counts, kinds of evidence, and words of command lines."""

from __future__ import annotations

import os
from collections.abc import Iterable


def listed(words: Iterable[str], conjunction: str = "or", most: int | None = None) -> str:
    """Join words as in a sentence: `` `a`, `b` or `c` ``; of more than `most`, these: `` `a`, `b` and 3 more ``."""
    quoted = [f"`{word}`" for word in words]
    if most is not None and len(quoted) > most:
        return f"{', '.join(quoted[:most])} and {len(quoted) - most} more"
    return f" {conjunction} ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def tally(number: int, noun: str) -> str:
    """Count things: `0 tests`, `1 test`, `2 tests`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def evidence(source: str) -> str:
    """Return the kind of an unproven fact: seen elsewhere, at a source, or never seen, without one."""
    return f"seen elsewhere ({source})" if source else "never seen"


def for_shell(word: str) -> str:
    """Quote a word for the shell that runs a command: POSIX's, or Windows'."""
    if os.name == "posix":
        import shlex

        return shlex.quote(word)
    import subprocess

    return subprocess.list2cmdline([word])
