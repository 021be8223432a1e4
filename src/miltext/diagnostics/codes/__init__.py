"""The codes of all diagnostics, each by its name. docs/diagnostics.md has a section for each.

The meaning of a code never changes, and a retired code is not reused.
"""

from __future__ import annotations

import re
from pathlib import Path

from miltext.diagnostics.codes.files import *  # noqa: F403
from miltext.diagnostics.codes.programs import *  # noqa: F403
from miltext.diagnostics.codes.table import TABLE as TABLE
from miltext.diagnostics.codes.texts import *  # noqa: F403
from miltext.diagnostics.codes.writing import *  # noqa: F403

TITLES = {code: TABLE[code].title for code in sorted(TABLE)}
"""The titles of all codes, in their order."""


def page() -> Path:
    """Return the page that explains each code: in the package when installed, in `docs/` in a source tree."""
    here = Path(__file__).resolve().parent
    installed = here.parent / "diagnostics.md"
    return installed if installed.exists() else here.parents[3] / "docs" / "diagnostics.md"


def explanation(code: str) -> str:
    """Return the section of a code, in Markdown: meaning, example, fix. Raise KeyError for an unknown code."""
    _, heading, rest = page().read_text(encoding="utf-8").partition(f"\n### {code}\n")
    if not heading:
        raise KeyError(code)
    return re.split(r"^##", rest, maxsplit=1, flags=re.MULTILINE)[0].strip() + "\n"


def fix(code: str) -> str:
    """Return the beginning of the Fix on a code's page, made from the code's way out, with the words of the command and
    of Python.
    """
    from miltext.diagnostics.option_words import of_both

    way = of_both(TABLE[code].way_out)
    return f"{way if way.startswith(('miltext', '.')) else way[0].upper() + way[1:]}."
