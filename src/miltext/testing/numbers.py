"""The outputs of a model, pinned in a file or compared with another model, for pytest, unittest or any other runner."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from miltext.testing.golden import UPDATE_VARIABLE, exported, program_and_folder, shown

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from miltext.containers.sources import Source
    from miltext.evaluation.carried import Carried, Named
    from miltext.evaluation.subjects import Subject

ENDING = ".numbers.npz"
"""The end of the names of files that pin numbers."""


class Running(TypedDict, total=False):
    """How a model is run and compared; each choice is an argument of `miltext.compare`."""

    function: str
    min_snr: float | None
    seed: int | None
    compute: str


def assert_same_numbers(a: Source, b: Source, inputs: Named | None = None, **choices: Unpack[Running]) -> None:
    """Assert that two models compute the same, by `miltext.compare` with these arguments.

    Raise AssertionError that shows the comparison, and the errors of `compare`.
    """
    __tracebackhide__ = True
    from miltext.evaluation.comparing.comparing import compare

    comparison = compare(a, b, inputs, **choices)
    if not comparison.ok:
        raise AssertionError(f"the numbers differ:\n{comparison.to_text()}")


def assert_matches_numbers(
    source: Carried,
    path: str | os.PathLike[str],
    inputs: Named | None = None,
    *,
    update: bool | None = None,
    **choices: Unpack[Running],
) -> None:
    """Assert that the file `path`, an `.npz`, holds the outputs of a model by name.

    `source` is as for `normalize`; `inputs` and `choices` are the arguments of `miltext.compare`. With `update`, write
    the file instead; None stands for the environment variable MIL_UPDATE. By default, `min_snr` is 50 for an output
    that comes from fp16 or less, and 80 for others. Raise AssertionError that shows the comparison and how to accept
    it.
    """
    __tracebackhide__ = True
    command = f"set {UPDATE_VARIABLE}=1 and run the test again"
    updating = bool(os.environ.get(UPDATE_VARIABLE)) if update is None else update
    check_numbers(source, Path(path), inputs, updating, command, **choices)


def check_numbers(
    source: Carried,
    path: Path,
    inputs: Named | None,
    updating: bool,
    command: str,
    **choices: Unpack[Running],
) -> None:
    """Assert that the file `path` holds the outputs of a model, or write it; `command` accepts a difference."""
    __tracebackhide__ = True
    source = exported(source)  # its weights exist as long as it does
    subject = _subject(source)
    if updating:
        _write(subject, path, inputs, **choices)
        return
    if not path.exists():
        raise AssertionError(f"missing golden {shown(path)}\nto write it: {command}")
    difference = _difference(subject, path, inputs, **choices)
    if difference:
        raise AssertionError(f"the numbers differ from {shown(path)}:\n{difference}\nto accept them: {command}")


def _subject(source: Carried) -> Subject:
    from miltext.evaluation.subjects import Subject, opened
    from miltext.models.model import Model

    return opened(source) if isinstance(source, (Model, Subject)) else opened(*program_and_folder(source))


def _difference(subject: Subject, path: Path, inputs: Named | None, **choices: Unpack[Running]) -> str:
    """Return the differences of a model's numbers from a file's; an empty text if there are none."""
    from dataclasses import replace

    from miltext.diagnostics import MiltextError, codes
    from miltext.evaluation.comparing.comparing import compare
    from miltext.evaluation.comparing.thresholds import OwnNumbers
    from miltext.evaluation.value_files import read_archive

    if not inputs and choices.get("seed") is None:
        choices["seed"] = 0  # as where the file was written
    try:
        comparison = compare(subject, None, inputs, against=OwnNumbers(read_archive(path)), **choices)
    except MiltextError as failure:
        if failure.diagnostics[0].code not in (codes.PORTS_DIFFER, codes.UNKNOWN_COMPARED_VALUE):
            raise
        return str(failure)
    if comparison.ok and not comparison.notes:
        return ""
    return replace(comparison, old="golden", new="now").to_text().rstrip("\n")


def _write(subject: Subject, path: Path, inputs: Named | None, **choices: Unpack[Running]) -> None:
    """Write the outputs of a model."""
    from miltext.evaluation.comparing.runners import filled
    from miltext.evaluation.evaluator import Evaluator
    from miltext.evaluation.value_files import npz_pieces
    from miltext.files.writing import write_file

    seed = choices.get("seed")
    evaluator = Evaluator(subject, choices.get("function", "main"), compute=choices.get("compute", "float32"))
    given = inputs if inputs and seed is None else filled(evaluator, inputs or {}, seed or 0)
    outputs = evaluator.run(given, seed=seed or 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, npz_pieces(outputs.items()))
