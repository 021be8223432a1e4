"""Compare the Pygments lexer with Pygments' own for C, on as much text, in turns.

    python benchmarks/highlight.py model.mil...

The C text is that of Python's own headers, repeated until it is long enough.
"""

from __future__ import annotations

import sys
import sysconfig
from collections import deque
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parent.parent / "src"))  # where miltext is not installed

from pygments.lexers import get_lexer_by_name

from benchmarks.measure import Contender, Contest, measure
from benchmarks.report import result_table
from miltext.highlight import MilLexer

ROUNDS = 7


def c_text(size: int) -> str:
    """Return that many characters of C."""
    headers = sorted(Path(sysconfig.get_path("include")).rglob("*.h"))
    text = ""
    for path in cycle(headers):
        if len(text) >= size:
            break
        text += path.read_text(encoding="utf-8")
    return text[:size]


def contest(text: str) -> Contest:
    """Make the contest of both lexers, each on its own text, by characters."""
    other, theirs = c_text(len(text)), get_lexer_by_name("c")
    contenders = [
        Contender("MIL", lambda: deque(MilLexer().get_tokens(text), maxlen=0), len(text)),
        Contender("C", lambda: deque(theirs.get_tokens(other), maxlen=0), len(text)),
    ]
    return Contest("Pygments' lexers", "byte", contenders)


def main() -> None:
    """Measure on the texts that the command line names, and print the table."""
    text = "".join(Path(path).read_text(encoding="utf-8") for path in sys.argv[1:])
    print(result_table(measure(contest(text), ROUNDS, budget=float("inf"))))


if __name__ == "__main__":
    main()
