"""`miltext demo`: miltext's abilities, on a small model that the wheel contains."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from miltext.cli.habits import quiet
from miltext.cli.streams import colored

EPILOG = """\b
Example:
  miltext demo
\b
Exit status: 0 the demo is shown; 2 usage, files.
"""

MODEL, TEXT, DRAFT, NEW = "Classifier.mlpackage", "model.mil", "draft.mil", "New.mlpackage"

MISTAKES = (("softmax(", "sofmax("), ("[1, 96]", "[1, 69]"))
"""The mistakes put into the draft: in an operation's name, and in a shape."""

EDIT = ("= relu(", "= tanh(")
"""The edit of the text: one operation for another."""


def model() -> Path:
    """Return the model: beside this module when installed, in `examples/` in a source tree."""
    here = Path(__file__).resolve().parent
    installed = here / MODEL
    return installed if installed.exists() else here.parents[2] / "examples" / MODEL


@click.command("demo", epilog=EPILOG)
def command() -> None:
    """Show a tour of miltext: print a model, check a text with mistakes, run a model, and compare two models.

    Each step is a command and its output. The model is a small classifier of pictures, which is part of miltext. The
    demo works in a temporary folder, which it removes at the end.
    """
    from miltext.containers.opening import load
    from miltext.drafting.writing import to_draft

    with tempfile.TemporaryDirectory(prefix="miltext-demo-") as name:
        folder = Path(name)
        shutil.copytree(model(), folder / MODEL)
        _report("A model is printed as text. This is a draft, without the types that miltext infers.")
        _show(folder, "print", MODEL, "--draft", "--drop-names")
        _report(f"Two mistakes are made in that text, as {DRAFT}: `sofmax` for `softmax`, and 69 for 96.")
        draft = to_draft(load(folder / MODEL).program, drop_names=True)
        (folder / DRAFT).write_text(_replaced(draft, *MISTAKES), encoding="utf-8")
        _show(folder, "check", DRAFT, status=1)
        _report("A model is run on this machine, here on a random picture.")
        _show(folder, "run", MODEL, "--random")
        _report(f"The text is edited, with `tanh` for `relu`, and a model is built of it: {NEW}.")
        _show(folder, "print", MODEL, "-o", TEXT)
        text = folder / TEXT
        text.write_text(_replaced(text.read_text(encoding="utf-8"), EDIT), encoding="utf-8")
        _show(folder, "build", TEXT, "--from", MODEL, "-o", NEW)
        _report("Two models are compared, operation by operation.")
        _show(folder, "diff", MODEL, NEW, status=1)
    _report(f"The model is {model()}. `miltext help` lists all verbs.")


def _replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Return a text with each first part replaced by the second one, once."""
    for old, new in pairs:
        assert old in text, f"the model of the demo has no {old}"
        text = text.replace(old, new, 1)
    return text


def _report(words: str) -> None:
    if not quiet():
        click.echo(words)


def _show(folder: Path, *words: str, status: int = 0) -> None:
    """Show a command and its output. Raise OSError if its exit status is not `status`."""
    click.echo(f"$ miltext {' '.join(words)}")
    color = "always" if colored(sys.stdout, is_document=words[0] == "print") else "never"
    done = subprocess.run(
        [sys.executable, "-m", "miltext", *words, "--color", color],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    click.echo(done.stdout, color=True)  # as the verb wrote it
    if done.returncode != status:
        raise OSError(f"`miltext {' '.join(words)}` ended with the exit status {done.returncode}")
