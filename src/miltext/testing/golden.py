"""Golden files: a program pinned as MIL text, for pytest, unittest or any other runner.

Under pytest, the fixture `mil_golden` does the same with files beside the test: `miltext.pytest_plugin`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from miltext.printing.tensors import Style
    from miltext.schema.proto import Message, Program

UPDATE_VARIABLE = "MIL_UPDATE"
"""The environment variable with which tests write their goldens; `pytest --mil-update` sets it."""


class Normalization(TypedDict, total=False):
    """The parts of a program that a golden pins; each choice is an argument of `normalize`."""

    rename_values: bool
    drop_names: bool
    elide: int | None
    digest_weights: bool
    keep_build_info: bool
    dialect: str
    floats: str


def normalize(
    source: Any,
    *,
    rename_values: bool = False,
    drop_names: bool = False,
    elide: int | None = None,
    digest_weights: bool = True,
    keep_build_info: bool = False,
    dialect: str = "1.3",
    floats: str = "hex",
) -> str:
    """Return the MIL text of a program, without the parts that do not matter to a test. The program is not changed.

    `source` is a Program (coremltools' own too), the result of `miltext.load`, a path that `miltext.load` opens, MIL
    text, coremltools' `MLModel`, or its pymil `Program`, which coremltools then turns into a model. Text is a string
    with a line end, or that begins with `program`; the golden of a draft contains the complete program. `rename_values`
    names values after their operations, except for the inputs and outputs of functions; `drop_names` removes the `name`
    attributes; the digest of a literal of more than `elide` elements replaces it. The digest of a weight replaces its
    file and offset, which stay with `digest_weights=False`, and then the contents do not matter. buildInfo, the
    versions of the tools, is dropped unless `keep_build_info`. `dialect` and `floats` are as in `to_text`.

    Raise TypeError for another source, ValueError for weights without their model, WeightsError, and PrintError.
    """
    from miltext.printing.printing import to_text
    from miltext.printing.tensors import Style
    from miltext.schema.walk import values

    source = exported(source)  # its weights exist as long as it does
    message, folder = program_and_folder(source)
    program = _pinned(message, rename_values, drop_names, keep_build_info)
    if not digest_weights or not any(held.value.HasField("blobFileValue") for held in values(program)):
        return to_text(program, dialect=dialect, floats=floats, elide=elide)
    return _with_digests(program, folder, Style(dialect, floats, elide))


def _pinned(message: Message, rename_values: bool, drop_names: bool, keep_build_info: bool) -> Program:
    """Return a copy of a Program without the parts that do not matter to a test."""
    from miltext.printing import renaming
    from miltext.schema.stamps import BUILD_INFO
    from miltext.syntax.programs import own_copy

    program = own_copy(message)
    if not keep_build_info:
        program.attributes.pop(BUILD_INFO, None)
    if rename_values:
        renaming.rename_values(program)
    if drop_names:
        renaming.drop_names(program)
    return program


def _with_digests(program: Program, folder: Path | None, style: Style) -> str:
    if folder is None:
        raise ValueError(
            "the weights of a Program without its model cannot be digested: give the model, as miltext.load reads it, "
            "or digest_weights=False to pin only the places of its weights"
        )
    from miltext.weight_files.printing import DigestPrinter, Digests

    return "".join([*DigestPrinter(Digests(folder), style).program(program), "\n"])


def assert_matches_golden(
    source: Any, path: str | os.PathLike[str], *, update: bool | None = None, **choices: Unpack[Normalization]
) -> None:
    """Assert that the file `path` holds the text of a program, as `normalize` makes it from `source` and `choices`.

    With `update`, write the file instead; None stands for the environment variable MIL_UPDATE. Raise AssertionError
    that shows the difference and how to accept it.
    """
    command = f"set {UPDATE_VARIABLE}=1 and run the test again"
    updating = bool(os.environ.get(UPDATE_VARIABLE)) if update is None else update
    compare(normalize(source, **choices), Path(path), updating, command)


def compare(text: str, path: Path, updating: bool, command: str) -> None:
    """Assert that the file `path` holds `text`, or write it; `command` accepts a difference."""
    __tracebackhide__ = True
    data = path.read_bytes() if path.exists() else None
    golden = None if data is None else data.decode(errors="replace").replace("\r\n", "\n")
    if data is not None and data.replace(b"\r\n", b"\n") == text.encode():
        return
    if updating:
        from miltext.files.writing import write_file
        from miltext.formatting.document import keep_line_ends

        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, [keep_line_ends((data or b"").decode(errors="replace"), text).encode()])
    elif golden is None:
        raise AssertionError(f"missing golden {shown(path)}\nto write it: {command}")
    else:
        advice = _advice(golden, text)
        raise AssertionError(
            f"the program differs from {shown(path)}:\n{_difference(golden, text)}\n{advice}to accept it: {command}"
        )


def shown(path: Path) -> str:
    """Return a path relative to the working folder, as in pytest's reports, or the whole path of a file elsewhere."""
    whole, here = path.absolute(), Path.cwd()
    return str(whole.relative_to(here)) if here in whole.parents else str(path)


def _advice(golden: str, text: str) -> str:
    """Return a hint for a golden from before weights were pinned by their digests."""
    if "BLOBFILE(" not in golden or "BLOBFILE(" in text:
        return ""
    return (
        "this golden pins the places of its weights, not their contents; now each is pinned by its digest\n"
        "to keep the places: digest_weights=False\n"
    )


def _difference(golden: str, text: str) -> str:
    """Return the differences from the golden's program; by lines if only the text differs or one cannot be read."""
    from dataclasses import replace
    from difflib import unified_diff

    from miltext.diagnostics import MiltextError
    from miltext.diffing import diff
    from miltext.schema.proto import Program
    from miltext.testing.digests import lower_with_digests, without_marks

    try:
        old, new = (Program.FromString(lower_with_digests(each)) for each in (golden, text))
        difference = diff(old, new, build_info=True)
    except MiltextError:
        difference = None
    if difference is not None and difference.same is False:
        return without_marks(replace(difference, old="golden", new="now").to_text()).rstrip("\n")
    lines = unified_diff(golden.splitlines(), text.splitlines(), "golden", "now", lineterm="", n=2)
    return "\n".join(lines)


def program_and_folder(source: Any) -> tuple[Message, Path | None]:
    """Return the Program message of a source, and the folder that `@model_path` means, if it is known."""
    from miltext.models.model import Model
    from miltext.syntax.programs import FULL_NAME

    if getattr(getattr(source, "DESCRIPTOR", None), "full_name", None) == FULL_NAME:
        return source, None
    if isinstance(source, Model):
        return source.program, source.model_path
    if hasattr(source, "get_spec"):
        weights = source.weights_dir
        return source.get_spec().mlProgram, Path(weights).parent if weights else None
    from miltext.evaluation.subjects import Subject

    if isinstance(source, Subject):
        return source.program, source.folder
    raise TypeError(
        f"expected a Program, MIL text, a model, its path or coremltools' mil.Program, got {type(source).__name__}"
    )


def exported(source: Any) -> Any:
    """Return a pymil Program as a model, a text or the file at a path as a runnable subject, and any other source as it
    is.
    """
    if isinstance(source, (str, os.PathLike)):
        from miltext.evaluation.subjects import opened

        return opened(source)
    from miltext.pymil.exporting import from_pymil, is_pymil

    return from_pymil(source) if is_pymil(source) else source
