"""`miltext merge`: three versions made one; and `mergedriver`, which git calls to merge."""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

from miltext.cli.progress import Progress, size_below
from miltext.cli.streams import FAILED, WRONG, existing, fail, output_in_folder, show, tell, write_text
from miltext.diagnostics import MiltextError, codes, warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.merging.conflicts import Markers
    from miltext.merging.resolving import InConflict
    from miltext.models.model import Model
    from miltext.models.overlays import Overlays

EPILOG = """\b
Examples:
  miltext merge base.mil mine.mil yours.mil -o merged.mil
  miltext merge base.mil mine.mil yours.mil --diff3      # conflicts show the base, too
  miltext merge Base.mlpackage Mine.mlpackage Yours.mlpackage -o Merged.mlpackage
  miltext git setup                                      # git merge, rebase and cherry-pick do the same
  miltext merge --resolve theirs Model.mlpackage         # git left it in conflict: theirs, with its weights
  miltext merge --resolve Model.mlpackage.conflict.mil Model.mlpackage   # from the edited text
\b
Exit status: 0 merged; 1 conflicts, or errors that neither side has; 2 a version cannot be read.
"""

MODELS = (".mlpackage", ".mlmodel")
"""The endings of models, which are merged with their descriptions and weights."""

Names = tuple[str, str, str]
"""The names of the base, of ours and of theirs."""


@click.command("merge", epilog=EPILOG)
@click.argument("names", nargs=-1, required=True, metavar="BASE OURS THEIRS | MODEL...")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    default="-",
    callback=output_in_folder,
    help="The merged file. [for texts, standard output]",
)
@click.option(
    "--resolve",
    metavar="ours|theirs|TEXT",
    help="Resolve each MODEL that git left in conflict: use one side, or the model of an edited TEXT.",
)
@click.option("--diff3", is_flag=True, help="Show the base in conflicts, too.")
@click.option("--marker-size", type=click.IntRange(min=7), default=7, metavar="N", help="The length of markers.")
@click.option("--no-check", is_flag=True, help="Do not search for errors that neither side has.")
@click.option("--force", is_flag=True, help="Replace PATH; with --resolve, discard later changes.")
def command(
    names: tuple[str, ...],
    output: str,
    resolve: str | None,
    diff3: bool,
    marker_size: int,
    no_check: bool,
    force: bool,
) -> None:
    """Merge the changes of OURS and THEIRS since BASE, texts or models, operation by operation.

    Operations are matched by structure: one side may rename, move or reformat an operation that the other side changes.
    The result is OURS with the changes of THEIRS, with comments and layout. Different changes of one place are written
    between markers, as by git. An empty BASE means that both sides added the text.

    Models are merged with their descriptions and weights. A model with conflicts is not written; the text with markers
    is then beside PATH, in PATH.conflict.mil.

    With --resolve, git merge, rebase, cherry-pick or stash left each MODEL in conflict. All of its files become those
    of one side, or the model of TEXT, with weights of both: usually `Model.mlpackage.conflict.mil`, without markers.
    git then lists the model as resolved.
    """
    from miltext.merging.conflicts import Markers

    if resolve is not None:
        if output != "-":
            raise click.UsageError("--resolve writes the MODEL itself: leave out -o")
        sys.exit(_resolve(names, resolve, force))
    base, ours, theirs = _three(names)
    try:
        found = _merged(
            (base, ours, theirs), output, Markers(ours, base, theirs, marker_size, diff3), force, not no_check
        )
    except MiltextError as failure:
        show(failure.diagnostics, failure.text, failure.path)
        sys.exit(FAILED)
    sys.exit(WRONG if found else 0)


def _merged(names: Names, output: str, markers: Markers, force: bool, check: bool) -> bool:
    """Write the result of a merge, and return whether a conflict or an error remains. Raise MiltextError."""
    from miltext.models.outputs import check_output

    base, ours, _ = names
    models = [name for name in names if name.rstrip("/").endswith(MODELS)]
    if models and len(models) < len(names) - _is_nothing(base):
        fail(f"merge three texts or three models: {models[0]} is a model, and not all are")
    if models:
        return _merge_models(names, output, markers, force, check)
    check_output(output, "mil", *names, force=force)
    return _merge_texts(names, output, markers, ours if output == "-" else output, ours if check else None, force=force)


def _three(names: Sequence[str]) -> Names:
    """Return the names of three versions. Raise click's UsageError."""
    if len(names) < 3:
        raise click.UsageError(f"Missing argument '{('BASE', 'OURS', 'THEIRS')[len(names)]}'.")
    if len(names) > 3:
        raise click.UsageError(f"three versions are merged: BASE OURS THEIRS, and not {names[3]!r}")
    return names[0], names[1], names[2]


# ---- conflicts of git


def _resolve(names: Sequence[str], how: str, force: bool) -> int:
    """Resolve models that git left in conflict; return the exit status."""
    from miltext.merging.resolving import SIDES, InConflict

    if how not in SIDES and len(names) > 1:
        raise click.UsageError(f"{how} is the text of one model: name one, or resolve with ours or theirs")
    for name in names:
        try:
            found = InConflict(name, force=force)
            if how in SIDES:
                found.take(SIDES[how])
            elif not _take_text(found, name, existing(how)):
                return WRONG
        except MiltextError as failure:
            show(failure.diagnostics, failure.text, failure.path)
            return WRONG if failure.diagnostics[0].code == codes.UNRESOLVED_CONFLICT else FAILED
        _forget_text(found, how)
        tell(
            f"miltext: {name}: {how} whole, with its weights"
            if how in SIDES
            else f"miltext: {name}: the model of {how}"
        )
    return 0


def _take_text(found: InConflict, name: str, text: str) -> bool:
    """Apply a text, and return whether the model is whole; report its errors."""
    merged = found.take_text(Path(text))
    for reason in (*merged.conflicts, *(f"{path} is taken from ours" for path in found.of_ours)):
        _report(name, reason)
    show(merged.errors, merged.text, text)
    return merged.is_whole


def _forget_text(found: InConflict, used: str) -> None:
    """Remove the text beside a resolved model: if it was used, or still has markers."""
    from miltext.merging.conflicts import has_markers

    if found.text.is_file() and (
        os.path.realpath(used) == os.path.realpath(found.text) or has_markers(found.text.read_text(errors="replace"))
    ):
        found.text.unlink()


MERGETOOL_EPILOG = """\b
Examples:
  miltext mergetool Model.mlpackage
  git mergetool -t miltext                 # calls it for each file in conflict
\b
Exit status: 0 resolved; 1 conflicts are left; 2 git, files.
"""


@click.command("mergetool", epilog=MERGETOOL_EPILOG)
@click.argument("file")
def mergetool(file: str) -> None:
    """Resolve the conflicts of the model around FILE, in an editor.

    git calls this after `miltext git setup`. git's editor opens the text with the conflicts if it has markers; the
    model is then made of the edited text, with its weights.
    """
    from miltext.merging.conflicts import has_markers
    from miltext.merging.driver import ways_out
    from miltext.merging.resolving import InConflict

    try:
        found = InConflict(file, force=True)
        text = str(found.text)
        if not found.text.is_file():
            fail(f"{text} does not exist: {ways_out(PurePosixPath(found.path))}")
        if has_markers(found.text.read_text(errors="replace")):
            _edit(text)
        if not _take_text(found, file, text):
            sys.exit(WRONG)
    except MiltextError as failure:
        show(failure.diagnostics, failure.text, failure.path)
        sys.exit(WRONG)
    if found.is_last:
        found.text.unlink()
    found.leave_unmerged(but=file)


def _edit(text: str) -> None:
    """Open a text in git's editor."""
    import subprocess

    answer = subprocess.run(["git", "var", "GIT_EDITOR"], capture_output=True, check=False)
    editor = os.fsdecode(answer.stdout).strip()
    if answer.returncode:
        fail(os.fsdecode(answer.stderr).strip() or "git has no editor")
    if subprocess.call(["sh", "-c", f'{editor} "$@"', editor, text]):  # as git does: a command for its shell
        fail(f"the editor failed: {editor}")


# ---- texts and models


def _merge_texts(
    names: Names, output: str, markers: Markers, shown: str, place: str | None, *, force: bool = True
) -> bool:
    """Write the merged text, and report its errors under a shown name; return whether there are any.

    Without `force`, no existing file is replaced. `place` is the place of the arrays that the text names, None for no
    check. Raise MiltextError.
    """
    from miltext.checking.moved_texts import require_arrays
    from miltext.merging.judging import moved_weights, new_errors
    from miltext.merging.merging import merge_texts

    base, ours, theirs = (_read(name, may_be_empty=index == 0) for index, name in enumerate(names))
    merged = merge_texts(base, ours, theirs, markers)
    if place is not None and output == shown:  # git's driver writes a file elsewhere, which git moves to the place
        require_arrays(merged.text, Path(output), place, Path(place).parent)
    write_text(output, [merged.text], "mil", *names, force=force)
    if merged.conflicts:
        conflicts = "a conflict" if merged.conflicts == 1 else f"{merged.conflicts} conflicts"
        _report(shown, f"{conflicts}, between markers")
        return True
    found = new_errors(merged.text, ours, theirs, place) if place is not None else []
    show(found, merged.text, shown)
    if found:
        _report(shown, "merged without a conflict, but neither side has these errors")
    if doubt := moved_weights(base, ours, theirs):
        _report(shown, doubt)
    return bool(found or doubt)


def _is_nothing(name: str) -> bool:
    """Whether a base is an empty file: both sides added their contents."""
    return os.path.exists(name) and not os.path.isdir(name) and os.path.getsize(name) == 0


def _report(name: str, message: str) -> None:
    click.echo(f"miltext: {name}: {message}", err=True)


def _read(name: str, may_be_empty: bool) -> str:
    from miltext.files.contents import mil_text, read_file

    data = read_file(Path(existing(name)))
    return mil_text(data, name) if data or not may_be_empty else ""


def _merge_models(names: Names, output: str, markers: Markers, force: bool, check: bool) -> bool:
    """Write the merged model, or report the reasons for none; return whether there is none. Raise MiltextError."""
    from tempfile import TemporaryDirectory

    from miltext.building.build import build
    from miltext.building.choices import BuildChoices
    from miltext.containers.opening import open_model
    from miltext.containers.spec import SpecModel
    from miltext.merging.contents import compared_work
    from miltext.merging.driver import beside
    from miltext.merging.models import merge_models
    from miltext.merging.overlays import lost_values, merged_overlays
    from miltext.models.outputs import check_target

    if output == "-":
        fail("name the merged model with -o")
    before = None if _is_nothing(names[0]) else open_model(existing(names[0]))
    ours, theirs = (open_model(existing(name)) for name in names[1:])
    check_target(Path(output), force, [ours, theirs, *([before] if before else [])])
    with TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True) as made:
        models = [model for model in (before, ours, theirs) if model is not None]
        with Progress("comparing weights", lambda: compared_work(models)) as bar:
            merged = merge_models(before, ours, theirs, Path(made), markers, check=check, progress=bar.add)
        if merged.model is None or not merged.is_whole:
            _report_conflicts(output, merged.conflicts, merged.text, beside(output.rstrip("/")), force=force)
            show(merged.errors, merged.text, output)
            return True
        whole = SpecModel("mlmodel", output, None, Path(made), merged.model)
        whole.overlays = merged_overlays((before, ours, theirs), merged.model.description)
        with Progress("writing weights", lambda: size_below(Path(made))) as bar:
            written = build(whole, output, BuildChoices(force=force, any_kind=True, progress=bar.add))
    kept = whole.overlays if Path(output).suffix.lower() == ".mlpackage" else None
    lost = lost_values(before, theirs, kept) if kept is not None else []
    if others := [*_other_files(models, kept), *lost]:
        message = f"other files of the packages are not kept: {', '.join(others)}"
        written.append(warning(codes.FILES_NOT_KEPT, message))
    show(written, None, output)
    return False


def _other_files(models: Sequence[Model], kept: Overlays | None) -> list[str]:
    """Return the other files of packages, besides the overlays that are kept."""
    from miltext.building.choices import BuildChoices
    from miltext.building.compiling.other_files import files_beside
    from miltext.building.originals import remade
    from miltext.models.manifest import DATA

    packages = [remade(each, {}, each, BuildChoices()) for each in models if each.kind == "mlpackage"]
    overlays = {str(DATA / each.path) for each in kept.read} if kept is not None else set()
    return sorted({name for each in packages for name in files_beside(each)} - overlays)


def _report_conflicts(
    name: str, reasons: Sequence[str], text: str | None, beside: str | None, *, force: bool = True
) -> None:
    """Report the reasons for an unmerged model, and write its text with markers beside it.

    Without `force`, another text in its place stays, as it may have been edited.
    """
    for reason in reasons:
        _report(name, reason)
    if text is not None and beside is not None:
        is_same = os.path.isfile(beside) and Path(beside).read_bytes() == text.encode()
        write_text(beside, [text], "mil", force=None if force or is_same else False)
        _report(name, f"the merged text is in {beside}")


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

    git calls this after `miltext git setup`, with %O %A %B %L %P and the LABELS %S %X %Y, unknown to older versions of
    git. It exits with 0 after a merge, and with 3 after conflicts.
    """
    from miltext.merging.conflicts import Markers
    from miltext.review.git import IN_CONFLICT

    named = [label for label in labels if not label.startswith("%")]
    if len(named) != 3:
        named = ["base", "ours", "theirs"]
    names = (base, ours, theirs)
    markers = Markers(named[1], named[0], named[2], marker_size, _with_base())
    try:
        found = (_merge_stored_texts if _is_text(path) else _merge_part)(names, markers, path)
    except MiltextError as failure:
        show(failure.diagnostics[:1], failure.text, path)
        for message in _without_merge(path):
            _report(path, message)
        sys.exit(FAILED)
    sys.exit(IN_CONFLICT if found else 0)


def _without_merge(path: str) -> list[str]:
    """Return messages about git's treatment of a file that cannot be read."""
    from miltext.merging.driver import ways_out

    if _is_text(path):
        return ["miltext cannot merge this; git does it by itself"]
    return ["miltext cannot merge this; ours stays", ways_out(PurePosixPath(path))]


def _is_text(path: str) -> bool:
    return path.endswith(".mil") and ".mlmodelc/" not in path


def _with_base() -> bool:
    """Whether the user's git shows the base in conflicts."""
    import subprocess

    answer = subprocess.run(["git", "config", "merge.conflictStyle"], capture_output=True, check=False)
    return answer.stdout.strip() in (b"diff3", b"zdiff3")


def _merge_stored_texts(names: Names, markers: Markers, path: str) -> bool:
    """Merge texts as git stores them."""
    from miltext.files.writing import write_file
    from miltext.merging.filters import NotHere, as_checked_out, as_stored

    try:
        with as_checked_out(names, path) as shown:
            found = _merge_texts((shown[0], shown[1], shown[2]), shown[1], markers, path, path)
            if shown is not names:
                write_file(Path(names[1]), [as_stored(Path(shown[1]).read_bytes(), path)])
    except NotHere as failure:
        _report(path, f"{failure}; ours stays")
        return True
    return found


def _merge_part(names: Names, markers: Markers, path: str) -> bool:
    """Merge a file of a package; in a conflict, one side stays, and the text with markers is beside it."""
    from miltext.files.writing import write_file
    from miltext.merging.driver import merge_part
    from miltext.merging.filters import as_stored

    merged = merge_part(path, names, markers)
    if merged.data is not None:
        write_file(Path(names[1]), [as_stored(merged.data, path)])
    _report_conflicts(path, merged.reasons, merged.text, _beside(path))
    show(merged.errors, merged.text, path)
    return bool(merged.reasons)


def _beside(path: str) -> str | None:
    """Return the name of the text beside a package in conflict; None without a working tree."""
    from miltext.merging.driver import beside

    name = beside(path)
    return name if os.path.isdir(os.path.dirname(name) or ".") else None
