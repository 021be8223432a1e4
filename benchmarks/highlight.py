"""Compare the Pygments lexer with Pygments' own for C, on as much text, in turns.

    python benchmarks/highlight.py model.mil...

The C text is that of Python's own headers, repeated until it is long enough.
"""

from __future__ import annotations

import statistics
import sys
import sysconfig
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from pygments.lexers import get_lexer_by_name

from miltext.highlight import MilLexer

if TYPE_CHECKING:
    from pygments.lexer import Lexer

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


def seconds(lexer: Lexer, text: str) -> float:
    """Measure how long a lexer takes for all tokens of a text."""
    start = time.perf_counter()
    for _ in lexer.get_tokens(text):
        pass
    return time.perf_counter() - start


def main() -> None:
    text = "".join(Path(path).read_text(encoding="utf-8") for path in sys.argv[1:])
    other = c_text(len(text))
    pairs = [(seconds(MilLexer(), text), seconds(get_lexer_by_name("c"), other)) for _ in range(ROUNDS + 1)][1:]
    ours, theirs = (len(text) / statistics.median(taken) / 1e6 for taken in zip(*pairs, strict=True))
    print(f"{len(text)} characters: MIL {ours:.2f} MB/s, C {theirs:.2f} MB/s, ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
