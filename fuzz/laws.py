"""What must hold of inputs: the laws that the tests assert of their own cases, each target's together."""

from __future__ import annotations

import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path
from random import Random

from conftest import EXAMPLE
from support.containers import write_package
from support.damage import DATA
from support.evaluation import computed
from support.laws import building, checking, comments, printing, reading
from support.variations import made_up

import miltext
from fuzz import messages
from fuzz.texts import decoded
from miltext import MiltextError, PrintError
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.failures import OperationFailure
from miltext.generation import programs as generation
from miltext.generation.choices import ByteChoices
from miltext.generation.options import Options
from miltext.parsing.parser import attempt
from miltext.parsing.recovery import recover
from miltext.schema.proto import Model, Program
from miltext.schema.types import TensorType, Type
from miltext.syntax.programs import own_copy

Law = Callable[[bytes], None]


def parses(data: bytes) -> None:
    """Text: all parsers agree, what is read is said again, what is not is told at its place, and a check goes on."""
    text = decoded(data)
    if reading.check_reading(text):
        reading.check_said_again(text)
    recovered = recover(text)
    checking.check_places(text, recovered.relocated(recovered.diagnostics))


def prints(data: bytes) -> None:
    """A Program: its text is read back equal, is the same both ways, and protobuf's own text is no other Program."""
    program = messages.read(Program, data)
    if program is None:
        return
    printing.check_both_ways(program)
    try:
        miltext.to_text(program)
    except PrintError:  # it has fields that no schema knows, or nests too deeply
        return
    printing.check_printing(program)
    printing.check_strictness(program)
    printing.check_text_format(program)


def formats(data: bytes) -> None:
    """Text: it keeps its program and comments, and is laid out once and for all; a draft, and what it stands for."""
    text = decoded(data)
    comments.check_laid_out_or_refused(text)
    if not comments.refusal(miltext.format_text, text):
        comments.check_formatting(text)
        _writes_out(text)


def _writes_out(draft: str) -> None:
    """A draft stands for the same program however it is laid out, and the text written for it keeps the comments."""
    try:
        written = miltext.infer_draft(draft)
    except MiltextError:
        return
    assert miltext.infer_draft(written) == written
    assert sorted(comments.comments(written)) == sorted(comments.comments(draft))
    laid_out = miltext.infer_draft(miltext.format_text(draft))
    assert comments.said(laid_out) == comments.said(written)


def checks(data: bytes) -> None:
    """Text: what is found has its place, is found in the Program too, and mending does good."""
    text = decoded(data)
    checking.check_places(text, miltext.check(text))
    checking.check_first_report(text)
    checking.check_text_and_program(text)
    if (program := attempt(text)) is not None:
        checking.check_program(program)
    checking.check_mending(text, checking.safe)
    checking.check_mending(text, checking.unsafe)


def verifies(data: bytes) -> None:
    """A Program: what is found is what is found in its text."""
    program = messages.read(Program, data)
    if program is not None:
        with suppress(PrintError):
            miltext.to_text(own_copy(program))
            checking.check_program(program)


@contextmanager
def builds() -> Iterator[Law]:
    """A model file in a package: its build, its text's, and that with its description have the same bytes."""
    with tempfile.TemporaryDirectory() as top:

        def holds(data: bytes) -> None:
            if messages.read(Model, data) is None:
                return
            with tempfile.TemporaryDirectory(dir=top) as folder:
                _builds_the_same(data, Path(folder))

        yield holds


def _builds_the_same(data: bytes, folder: Path) -> None:
    package = write_package(folder / "M.mlpackage", data)
    shutil.copytree(EXAMPLE / DATA / "weights", package / DATA / "weights")
    for law in (building.assert_unchanged, building.assert_described, building.assert_compiled):
        with suppress(MiltextError):
            law(package, folder)


LARGEST = 1 << 16
"""The most elements of an input for which numbers are made up: what is larger tells no more, and takes long."""

GENERATED = Options(ops=(1, 8), functions=2, flexible=True, classifiers=True)


def generates(data: bytes) -> None:
    """Choices of generated Programs: `check` finds nothing, they are read back equal, and all values are computed."""
    try:
        program = generation.program(ByteChoices(data), GENERATED)
    except MiltextError:  # nothing can be made of what the choices ask for
        return
    assert not miltext.check(program)
    printing.check_printing(program)
    printing.check_both_ways(program)
    for name in program.functions:
        failure = _computed(program, name, zlib.crc32(data), odd=False)
        assert failure is None or "?" in miltext.to_text(program), failure


def _computed(program: str | Program, function: str, seed: int, *, odd: bool = True) -> OperationFailure | None:
    """Values have the types inferred. Return why an operation has none; where all sizes are known, it is an argument's
    fault. Inputs are seldom NaN or great if they may be `odd`.
    """
    evaluator = Evaluator(program, function)
    if any(_elements(each) > LARGEST for each in evaluator.inputs.values()):
        return None
    is_known = all(isinstance(each, TensorType) and None not in each.shape for each in evaluator.inputs.values())
    inputs = made_up(evaluator.inputs, Random(seed), odd=odd)
    compute = "float32" if seed % 2 else "native"
    try:
        computed(program, inputs, function=function, state={}, seed=0, compute=compute)
    except OperationFailure as failure:
        if is_known and not failure.clause.startswith("`"):
            raise AssertionError(failure.clause) from failure
        return failure
    return None


def _elements(type: Type) -> int:
    """Return how many elements a tensor has, where a size that is not known counts as one."""
    return prod(1 if size is None else size for size in type.shape) if isinstance(type, TensorType) else 0


def evaluates(data: bytes) -> None:
    """A text that `check` has no fault with: its values have the types inferred, or an operation says why not."""
    text = decoded(data)
    if "while_loop" in text:  # which may run for ever
        return
    try:
        Evaluator(text)
    except MiltextError:
        return
    _computed(text, "main", zlib.crc32(data))
