"""The highlighters of real editors, asked for the class of every piece of a text."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from conftest import ROOT
from pygments.token import _TokenType
from support.token_roles import Piece

sys.path.insert(0, str(ROOT / "editors"))

from generator.emacs import FACES
from generator.highlightjs import CLASSES
from generator.textmate import SCOPES
from generator.vim import GROUPS

EDITORS = ROOT / "editors"
SCRIPTS = ROOT / "tests" / "editors"


class Highlighter(NamedTuple):
    """A program that reads our files: why it cannot, if so; its names of our classes; the pieces it makes of texts."""

    missing: Callable[[], str | None]
    names: Mapping[_TokenType, str]
    read: Callable[[Sequence[Path], Path], list[list[Piece]]]


def run(*command: str | Path, **environment: str | Path) -> str:
    """What a program says; an AssertionError, with all it says, where it fails."""
    variables = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    parts = [str(part) for part in command]
    done = subprocess.run(
        parts, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, encoding="utf-8", check=False
    )
    assert done.returncode == 0, f"{parts}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def absent(*programs: str) -> str | None:
    """The reason to skip a test that needs one of these programs."""
    return None if any(map(shutil.which, programs)) else f"{' or '.join(programs)} is not installed"


def placed(text: str, found: Sequence[tuple[int, int, int, str]]) -> list[Piece]:
    """Pieces out of lines from 0, first and last columns, and classes."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    places = ((starts[line] + start, starts[line] + end, name) for line, start, end, name in found)
    return [(start, name, text[start:end]) for start, end, name in places]


def texts_of(paths: Sequence[Path]) -> list[str]:
    return [path.read_bytes().decode() for path in paths]


# ---- VS Code's engine


def no_textmate() -> str | None:
    modules = EDITORS / "vscode" / "node_modules"
    if not all((modules / name).exists() for name in ("vscode-textmate", "vscode-oniguruma")):
        return "vscode-textmate is not installed: run `npm ci` in editors/vscode"
    return absent("node")


def read_textmate(paths: Sequence[Path], scratch: Path) -> list[list[Piece]]:
    grammar = EDITORS / "vscode" / "syntaxes" / "mil.tmLanguage.json"
    lines = run("node", SCRIPTS / "textmate.mjs", grammar, *paths).splitlines()
    return [placed(text, json.loads(line)) for text, line in zip(texts_of(paths), lines, strict=True)]


# ---- pages: highlight.js, Shiki and Rouge

WEB = EDITORS / "web"


def no_package(name: str) -> Callable[[], str | None]:
    def missing() -> str | None:
        installed = (WEB / "node_modules" / name).exists()
        return absent("node") if installed else f"{name} is not installed: run `npm ci` in editors/web"

    return missing


def read_highlightjs(paths: Sequence[Path], scratch: Path) -> list[list[Piece]]:
    return _cut(paths, run("node", SCRIPTS / "highlightjs.mjs", WEB / "highlightjs-mil.mjs", *paths))


def read_shiki(paths: Sequence[Path], scratch: Path) -> list[list[Piece]]:
    grammar = EDITORS / "vscode" / "syntaxes" / "mil.tmLanguage.json"
    lines = run("node", SCRIPTS / "shiki.mjs", WEB / "package.json", grammar, *paths).splitlines()
    return [placed(text, json.loads(line)) for text, line in zip(texts_of(paths), lines, strict=True)]


def no_rouge() -> str | None:
    if reason := absent("ruby"):
        return reason
    found = subprocess.run(["ruby", "-e", "require 'rouge'"], capture_output=True, check=False)
    return f"Rouge is not installed: {found.stderr.decode().strip()}" if found.returncode else None


def read_rouge(paths: Sequence[Path], scratch: Path) -> list[list[Piece]]:
    return _cut(paths, run("ruby", SCRIPTS / "rouge.rb", EDITORS / "rouge" / "mil.rb", *paths))


def _cut(paths: Sequence[Path], output: str) -> list[list[Piece]]:
    """Pieces out of lines of JSON, each with the places and classes of a text."""
    both = zip(texts_of(paths), map(json.loads, output.splitlines()), strict=True)
    return [[(start, name, text[start:end]) for start, end, name in found] for text, found in both]


# ---- bat, which reads the Sublime syntax

COLORS = {f"#0000{number:02x}": scope for number, scope in enumerate(dict.fromkeys(SCOPES.values()), 1)}
"""A colour for each scope, so that its output tells them apart."""

SETTING = "<dict><key>foreground</key><string>{}</string></dict>"
RULE = "<dict><key>scope</key><string>{}</string><key>settings</key>" + SETTING + "</dict>"
THEME = "<plist><dict><key>name</key><string>Scopes</string><key>settings</key><array>{}</array></dict></plist>"
COLORED = re.compile(r"\x1b\[(?:38;2;0;0;(\d+)|[\d;]*)m([^\x1b]*)")


def no_bat() -> str | None:
    return absent("bat", "batcat")


def read_bat(paths: Sequence[Path], scratch: Path) -> list[list[Piece]]:
    bat = shutil.which("bat") or "batcat"
    (scratch / "syntaxes").mkdir()
    (scratch / "themes").mkdir()
    shutil.copy(EDITORS / "sublime" / "MIL.sublime-syntax", scratch / "syntaxes")
    rules = "".join(RULE.format(scope, color) for color, scope in COLORS.items())
    (scratch / "themes" / "Scopes.tmTheme").write_text(THEME.format(rules), encoding="utf-8")
    place: dict[str, str | Path] = {
        "BAT_CONFIG_DIR": scratch,
        "BAT_CACHE_PATH": scratch / "cache",
        "COLORTERM": "truecolor",
    }
    run(bat, "cache", "--build", **place)
    options = [
        "--theme=Scopes",
        "--color=always",
        "--plain",
        "--paging=never",
        "--wrap=never",
        "--tabs=0",
        "--language=mil",
    ]
    return [_colored(run(bat, *options, path, **place)) for path in paths]


def _colored(output: str) -> list[Piece]:
    pieces, offset = [], output.index("\x1b")
    for blue, text in COLORED.findall(output):
        pieces.append((offset, COLORS.get(f"#0000{int(blue or 0):02x}", ""), text))
        offset += len(text)
    return pieces


# ---- Vim, Neovim, Emacs


def read_vim(program: str) -> Callable[[Sequence[Path], Path], list[list[Piece]]]:
    def read(paths: Sequence[Path], scratch: Path) -> list[list[Piece]]:
        output = scratch / "found.jsonl"
        vim(program, SCRIPTS / "groups.vim", *paths, MIL_OUT=output)
        lines = output.read_text(encoding="utf-8").splitlines()
        return [placed(text, json.loads(line)) for text, line in zip(texts_of(paths), lines, strict=True)]

    return read


def vim(program: str, script: Path, *paths: Path, **environment: str | Path) -> None:
    """Run a script in Vim or Neovim on files, with nothing set up but our folder."""
    setup = f"set nocompatible hidden nomodeline runtimepath^={EDITORS / 'vim'}"
    on = ["--cmd", "filetype plugin indent on", "--cmd", "syntax on"]
    run(program, "-es", "-u", "NONE", "-i", "NONE", "-n", "--cmd", setup, *on, *paths, "-S", script, **environment)


def read_emacs(paths: Sequence[Path], scratch: Path) -> list[list[Piece]]:
    output = scratch / "found.jsonl"
    emacs(SCRIPTS / "faces.el", *paths, MIL_OUT=output)
    lines = output.read_text(encoding="utf-8").splitlines()
    return [[(start, face, text) for start, face, text in json.loads(line)] for line in lines]


def emacs(script: Path, *paths: Path, **environment: str | Path) -> None:
    """Run a script in Emacs, with nothing of the user set up; the paths are what is left of its command line."""
    run("emacs", "-q", "--batch", "-L", EDITORS / "emacs", "-l", "mil-mode", "-l", script, *paths, **environment)


_ROUGE_NAMES = {token: str(token).removeprefix("Token.") for token in SCOPES}
_VIM_NAMES = {token: group for token, (group, _) in GROUPS.items()}

HIGHLIGHTERS: dict[str, Highlighter] = {
    "textmate": Highlighter(no_textmate, SCOPES, read_textmate),
    "bat": Highlighter(no_bat, SCOPES, read_bat),
    "vim": Highlighter(lambda: absent("vim"), _VIM_NAMES, read_vim("vim")),
    "nvim": Highlighter(lambda: absent("nvim"), _VIM_NAMES, read_vim("nvim")),
    "emacs": Highlighter(lambda: absent("emacs"), FACES, read_emacs),
    "highlight.js": Highlighter(no_package("highlight.js"), CLASSES, read_highlightjs),
    "shiki": Highlighter(no_package("shiki"), SCOPES, read_shiki),
    "rouge": Highlighter(no_rouge, _ROUGE_NAMES, read_rouge),
}
