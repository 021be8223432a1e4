"""The words of options: messages name the keyword of Python, such as `weights=`, and the command names its option.

A message contains a keyword as it is written in a call, in backticks: `` `weights=` ``, `` `force=True` ``,
`` `check=False` ``, `` `ranges={"x": "1,8..64"}` ``. Messages of the command and of the language server pass through
`of_command`, and the pages of codes through `of_both`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic

FLAGS = {
    "allow_nan": "--allow-nan",
    "allow_unproven": "--allow-unproven",
    "apart": "--apart",
    "as_coremlc": "--as-coremlc",
    "bind": "--bind",
    "build_info": "--build-info",
    "cast": "--cast",
    "check": "--no-check",
    "description": "--description",
    "elide": "--elide",
    "externalize": "--externalize",
    "force": "--force",
    "functions": "--functions",
    "inputs": "--input",
    "io": "--io",
    "min_snr": "--min-snr",
    "model": "--model",
    "no_loss": "--no-loss",
    "original": "--from",
    "prune_weights": "--prune-weights",
    "ranges": "--range",
    "shapes": "--shape",
    "weights": "--weights",
}
"""The option of the command for each keyword that messages name. Messages turn off only `check`."""

RESIZING = "picture.resize"
"""The method of a picture, for which the command has the option `--resize`."""

_WORD = re.compile(rf"`(?:({'|'.join(FLAGS)})=(True|False|\{{[^`]*\}}|)|{re.escape(RESIZING)}\([^`]*\))`")
_ITEM = re.compile(r'"?([^":{}]*)"?: "?([^":{}]*)"?')


def of_command(message: str) -> str:
    """Return a message with the options of the command in place of keywords."""
    return _WORD.sub(lambda found: f"`{_option(found)}`", message)


def of_both(message: str) -> str:
    """Return a message with the options of the command, and the keywords beside them."""
    return _WORD.sub(lambda found: f"`{_option(found)}` (in Python {found[0]})", message)


def found_by_command(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics with the options of the command in their messages and notes."""
    return [
        each._replace(
            message=of_command(each.message),
            notes=tuple(note._replace(message=of_command(note.message)) for note in each.notes),
        )
        for each in diagnostics
    ]


def _option(word: re.Match[str]) -> str:
    """Return the option for a keyword, with NAME=VALUE for a mapping of one item."""
    keyword, value = word.groups()
    if keyword is None:
        return "--resize"
    item = _ITEM.fullmatch(value[1:-1])
    return f"{FLAGS[keyword]} {item[1]}={item[2]}" if item else FLAGS[keyword]
