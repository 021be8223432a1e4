"""Doubtful numbers in the weights of a model: each record, and each literal, is read once, in pieces.

A NaN spreads to the outputs, and so does an infinity in a multiplied weight. An infinity beside nothing but zeros is a
mask, which attention adds to its scores, and is not a fault. Core ML computes in fp16 on the Neural Engine, where a
number beyond 65504 is an infinity; a weight of zeros is often a weight that was never loaded, but it can be an initial
state. These two are notes. A compressed weight is examined as it is stored: its table, scales or nonzero data, also
where these are few numbers in the program. Other single numbers in a program are settings, such as a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.contract.files import FileFindings, capped
from miltext.diagnostics import Diagnostic, MiltextError, codes
from miltext.diagnostics.wording import listed
from miltext.files.writing import WITH_DESCRIPTION
from miltext.schema.dtypes import GREATEST_HALF
from miltext.weight_files.model_weights import FEWEST, small_weights

if TYPE_CHECKING:
    from miltext.files.writing import Progress
    from miltext.models.model import Model, Stage
    from miltext.schema.packing import Array
    from miltext.schema.tensors import Tensor
    from miltext.weight_files.model_weights import Weight

_MOST_NAMED = 3
"""How many weights a finding names."""


class _Stored(NamedTuple):
    """Numbers stored once: their place, and the weights that have them, by name."""

    tensor: Tensor
    path: str
    place: str
    weights: dict[str, Weight]


def weight_data_findings(whole: Model, progress: Progress | None = None) -> list[FileFindings]:
    """Return the doubtful numbers in all weights of an opened model, file by file; none for a text.

    Weights that cannot be read are left out: `weight_findings` reports them. `progress` is called with the number of
    bytes of each piece.
    """
    files: dict[str, list[Diagnostic]] = {}
    for stored in _stored(whole):
        if found := [*_found(stored, progress or (lambda _: None))]:
            files.setdefault(stored.path, []).extend(found)
    return [FileFindings(path, capped(found, "doubtful numbers"), None) for path, found in files.items()]


def _stored(whole: Model) -> list[_Stored]:
    """Return the floats of a model's programs, shared ones once."""
    found: dict[tuple[object, ...], _Stored] = {}
    for stage in whole.programs() if whole.kind in WITH_DESCRIPTION else ():
        with suppress(MiltextError):  # of an unreadable program
            for name, weight in _weights(stage.model):
                with suppress(MiltextError):  # of an unreadable record
                    tensor = stage.model.weights.tensor(weight.value)
                    if tensor.dtype.kind == "float":
                        key = (stage.place if weight.blob is None else "", tensor.dtype, *tensor.identity)
                        stored = found.setdefault(key, _Stored(tensor, *_place(stage, weight), {}))
                        user = f"model {stage.place}, {name}" if stage.place else name
                        stored.weights[user] = weight
    return [*found.values()]


def _weights(model: Model) -> Iterator[tuple[str, Weight]]:
    """Yield the weights of a model by name, including small ones in its program; the small weights of several functions
    have both names.
    """
    yield from model.weights.entries.items()
    has_several = len(model.program.functions) > 1
    for weight in small_weights(model.program):
        yield f"{weight.function}/{weight.name}" if has_several else weight.name, weight


def _place(stage: Stage, weight: Weight) -> tuple[str, str]:
    """Return the path for findings about a weight, and words for its place in that file."""
    folder = stage.model.model_path
    if weight.blob is None or folder is None:
        return stage.name, "in the program"
    name = weight.blob.fileName.partition("/")[2]
    return str(folder / name), f"`{name}` at {weight.blob.offset:#x}"


@dataclass
class _Group:
    """Numbers of one kind: how many, and the flat index of the first."""

    count: int = 0
    first: int = 0

    def add(self, which: Array, start: int) -> None:
        import numpy as np

        if number := int(np.count_nonzero(which)):
            self.first = self.first if self.count else start + int(np.argmax(which))
            self.count += number

    def words(self, what: str) -> str:
        return f"{self.count:,} {what}, the first at index {self.first}"


def _found(stored: _Stored, progress: Callable[[int], object]) -> Iterator[Diagnostic]:
    """Yield the findings about one tensor."""
    import numpy as np

    from miltext.schema.dtypes import packed_size
    from miltext.schema.packing import decode

    nans, infinities, large, others = _Group(), _Group(), _Group(), _Group()
    start, tensor = 0, stored.tensor
    for chunk in tensor.chunks(tensor.pieces()):  # read, not mapped: a mapped file fills the memory of the process
        values = decode(chunk, tensor.dtype)
        finite = np.isfinite(values)
        nans.add(np.isnan(values), start)
        infinities.add(np.isinf(values), start)
        large.add(finite & (np.abs(values) > GREATEST_HALF), start)
        others.add(finite & (values != 0), start)
        start += len(values)
        progress(packed_size(len(values), tensor.dtype.bits))
    where = f"{stored.place}: {listed(stored.weights, 'and', _MOST_NAMED)}"
    if nans.count:
        yield _finding("warning", f"{where}: {nans.words('NaN')}")
    if infinities.count and others.count:
        yield _finding("warning", f"{where}: {infinities.words('infinite')}")
    if large.count:
        what = large.words(f"beyond {GREATEST_HALF:.0f}, which is infinite in fp16")
        yield _finding("note", f"{where}: {what}")
    is_zero = start and not (nans.count or infinities.count or others.count)
    if is_zero and start >= FEWEST and any(len(each.shape) >= 2 for each in stored.weights.values()):
        yield _finding("note", f"{where}: only zeros")


def _finding(severity: str, message: str) -> Diagnostic:
    return Diagnostic(severity, codes.DOUBTFUL_WEIGHT_DATA, message, None)
