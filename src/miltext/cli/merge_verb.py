"""`miltext merge`: three versions made one; and `mergedriver`, which git calls for that."""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

from miltext.cli.streams import FAILED, WRONG, existing, fail, show, write_text
from miltext.diagnostics import MiltextError, warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.merging.conflicts import Markers

EPILOG = """\b
Examples:
  miltext merge base.mil mine.mil yours.mil -o merged.mil
  miltext merge base.mil mine.mil yours.mil --diff3      # conflicts show the base, too
  miltext merge Base.mlpackage Mine.mlpackage Yours.mlpackage -o Merged.mlpackage
  miltext git setup                                      # git merge, rebase and cherry-pick do the same
\b
Exit status: 0 merged; 1 conflicts, or errors that neither side has; 2 a version cannot be read.
"""

MODELS = (".mlpackage", ".mlmodel")
"""The endings of what is merged with its description and its weights."""

BESIDE = ".conflict.mil"
"""What the name of a text with conflicts ends with, after the name of the model that it is of."""

Names = tuple[str, str, str]
"""The names of the base, of ours and of theirs."""


@click.command("merge", epilog=EPILOG)
@click.argument("base")
@click.argument("ours")
@click.argument("theirs")
@click.option("-o", "--output", metavar="PATH", default="-", help="Where to write; for texts, else standard output.")
@click.option("--diff3", is_flag=True, help="Show the base in conflicts, too.")
@click.option("--marker-size", type=click.IntRange(min=7), default=7, metavar="N", help="The length of markers.")
@click.option("--no-check", is_flag=True, help="Do not look for errors that neither side has.")
@click.option("--force", is_flag=True, help="Replace a model that is at PATH.")
def command(
    base: str, ours: str, theirs: str, output: str, diff3: bool, marker_size: int, no_check: bool, force: bool
) -> None:
    """Merge what OURS and THEIRS changed in BASE, texts or models, operation by operation.

    Operations are matched by structure: one side may rename, move or lay out anew what the other changes. The result is
    OURS with the changes of THEIRS, with comments and layout. What both changed otherwise stands between markers, as
    git writes them. An empty BASE says that both sides added the text.

    Models are merged with their descriptions and weights. One with conflicts is not written; the text with markers is
    then beside PATH, in PATH.conflict.mil.
    """
    from miltext.merging.conflicts import Markers

    names = (base, ours, theirs)
    markers = Markers(ours, base, theirs, marker_size, diff3)
    models = [name for name in names if name.rstrip("/").endswith(MODELS)]
    if models and len(models) < len(names):
        fail(f"merge three texts or three models: {models[0]} is a model, and not all are")
    try:
        if models:
            found = _merge_models(names, output, markers, force, check=not no_check)
        else:
            shown = ours if output == "-" else output
            found = _merge_texts(names, output, markers, shown, None if no_check else ours)
    except MiltextError as failure:
        show(failure.diagnostics, failure.text, failure.path)
        sys.exit(FAILED)
    sys.exit(WRONG if found else 0)


def _merge_texts(names: Names, output: str, markers: Markers, shown: str, place: str | None) -> bool:
    """Write the merged text, and tell what is wrong with it by a name that is shown; return whether anything is.

    `place` is where arrays are that the text names, None if it is not to be checked. Raise MiltextError.
    """
    from miltext.merging.judging import moved_weights, new_errors
    from miltext.merging.merging import merge_texts

    base, ours, theirs = (_read(name, may_be_empty=index == 0) for index, name in enumerate(names))
    merged = merge_texts(base, ours, theirs, markers)
    write_text(output, [merged.text], "mil")
    if merged.conflicts:
        conflicts = "a conflict" if merged.conflicts == 1 else f"{merged.conflicts} conflicts"
        _tell(shown, f"{conflicts}, between markers")
        return True
    found = new_errors(merged.text, ours, theirs, place) if place is not None else []
    show(found, merged.text, shown)
    if found:
        _tell(shown, "merged without a conflict, but neither side has these errors")
    if doubt := moved_weights(base, ours, theirs):
        _tell(shown, doubt)
    return bool(found or doubt)


def _tell(name: str, message: str) -> None:
    click.echo(f"miltext: {name}: {message}", err=True)


def _read(name: str, may_be_empty: bool) -> str:
    from miltext.models.contents import decode, read_file

    data = read_file(Path(existing(name)))
    return decode(data, name) if data or not may_be_empty else ""


def _merge_models(names: Names, output: str, markers: Markers, force: bool, check: bool) -> bool:
    """Write the merged model, or tell why there is none; return whether that is so. Raise MiltextError."""
    from tempfile import TemporaryDirectory

    from miltext.merging.models import merge_models
    from miltext.models.building.build import build
    from miltext.models.building.choices import Choices
    from miltext.models.building.originals import remade
    from miltext.models.compiling.other_files import files_beside
    from miltext.models.opening import open_model
    from miltext.models.spec import SpecModel

    if output == "-":
        fail("name the merged model with -o")
    models = [open_model(existing(name)) for name in names]
    with TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True) as made:
        merged = merge_models(models[0], models[1], models[2], Path(made), markers, check=check)
        if merged.model is None or not merged.is_whole:
            _tell_conflicts(output, merged.conflicts, merged.text, f"{output.rstrip('/')}{BESIDE}")
            show(merged.errors, merged.text, output)
            return True
        model = SpecModel("mlmodel", output, None, Path(made), merged.model)
        written = build(model, output, Choices(force=force, any_kind=True))
    packages = [remade(each, {}, each, Choices()) for each in models if each.kind == "mlpackage"]
    if others := sorted({name for each in packages for name in files_beside(each)}):
        message = f"what is in the packages beside model and weights is not kept: {', '.join(others)}"
        written.append(warning("MIL442", message))
    show(written, None, output)
    return False


def _tell_conflicts(name: str, reasons: Sequence[str], text: str | None, beside: str | None) -> None:
    """Tell why a model is not merged, and write its text with markers beside it."""
    for reason in reasons:
        _tell(name, reason)
    if text is not None and beside is not None:
        write_text(beside, [text], "mil")
        _tell(name, f"the merged text is in {beside}")


# ---- for git

DRIVER_EPILOG = """\b
Example:
  miltext mergedriver base.mil mine.mil yours.mil 7 model.mil
\b
Exit status: 0 merged; 3 conflicts, or errors that neither side has; 2 a version cannot be read.
"""


@click.command("mergedriver", epilog=DRIVER_EPILOG)
@click.argument("base")
@click.argument("ours")
@click.argument("theirs")
@click.argument("marker_size", type=int)
@click.argument("path")
@click.argument("labels", nargs=-1)
def mergedriver(base: str, ours: str, theirs: str, marker_size: int, path: str, labels: tuple[str, ...]) -> None:
    """Merge one file for git: OURS becomes the result.

    git calls this after `miltext git setup`, with %O %A %B %L %P and the LABELS %S %X %Y, which older versions of git
    do not know. It exits with 0 after a merge, and with 3 after conflicts.
    """
    from miltext.merging.conflicts import Markers
    from miltext.review.git import IN_CONFLICT

    named = [label for label in labels if not label.startswith("%")]
    if len(named) != 3:
        named = ["base", "ours", "theirs"]
    names = (base, ours, theirs)
    markers = Markers(named[1], named[0], named[2], marker_size, _with_base())
    try:
        if path.endswith(".mil") and ".mlmodelc/" not in path:
            found = _merge_texts(names, ours, markers, path, path)
        elif path.endswith("Manifest.json"):
            found = _merge_manifests(names)
        else:
            found = _merge_part(names, markers, path)
    except MiltextError as failure:
        show(failure.diagnostics[:1], failure.text, path)
        _tell(path, "miltext cannot merge this; git does it by itself")
        sys.exit(FAILED)
    sys.exit(IN_CONFLICT if found else 0)


def _with_base() -> bool:
    """Whether the user has git show the base in conflicts."""
    import subprocess

    asked = subprocess.run(["git", "config", "merge.conflictStyle"], capture_output=True, check=False)
    return asked.stdout.strip() in (b"diff3", b"zdiff3")


def _merge_manifests(names: Names) -> bool:
    """Merge manifests; where both sides changed more than identifiers, leave that to git."""
    from miltext.merging.manifests import merge_manifests

    merged = merge_manifests(*(Path(name).read_bytes() for name in names))
    if merged is None:
        sys.exit(FAILED)
    Path(names[1]).write_bytes(merged)
    return False


def _merge_part(names: Names, markers: Markers, path: str) -> bool:
    """Merge a file of a package; ours stays whole where it is in conflict, and the text with markers is beside it."""
    from miltext.merging.driver import merge_part
    from miltext.models.files import write_file

    merged = merge_part(path, names, markers)
    if merged.data is not None:
        write_file(Path(names[1]), [merged.data])
    _tell_conflicts(path, merged.reasons, merged.text, _beside(path))
    show(merged.errors, merged.text, path)
    return bool(merged.reasons)


def _beside(path: str) -> str | None:
    """Return the name of the text beside a package that is in conflict; None where there is no working tree."""
    parts = PurePosixPath(path).parents
    package = next((each for each in parts if each.suffix == ".mlpackage"), PurePosixPath(path))
    return f"{package}{BESIDE}" if os.path.isdir(package.parent) else None
