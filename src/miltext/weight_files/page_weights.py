"""Facts about the weights of a text for its page: type, place and statistics, each by its spelling.

The statistics of a large weight describe its beginning: at most MOST_BYTES of a weight are read, and PAGE bytes of all
weights of a page. If there are more, all weights have the same lower limit, which is never below LEAST.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError
from miltext.printing.graph_calls import WeightFacts
from miltext.schema.tensors import tensor_dtype, tensor_shape
from miltext.weight_files.model_weights import BlobFolder
from miltext.weight_files.statistics import MOST_BYTES, statistics
from miltext.weight_files.usage import value_size

if TYPE_CHECKING:
    from miltext.files.writing import Progress
    from miltext.schema.proto import Value
    from miltext.schema.tensors import Tensor

PAGE = 1 << 28
"""The bytes of weights read for a page, unless every weight is read up to LEAST."""

LEAST = 1 << 16
"""The least limit of bytes for a weight."""

LEFT_OUT = "the text leaves its elements out"

_ELIDED = re.compile(r"\$elided\([^()]*\)")


class PageWeights:
    """Reads the facts about the weights of a page; `folder` stands for `@model_path`, None if it is unknown.

    `elided` are values that the text leaves out, by their spellings there, such as `$elided(9, "sha256:d5000bba")`.
    `expect` gets a function that returns the number of bytes to read, and `progress` those that were read.
    """

    def __init__(
        self,
        folder: Path | None,
        elided: Mapping[str, Value],
        expect: Callable[[Callable[[], int]], object] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._files = BlobFolder(folder, progress)
        self._elided = elided
        self._expect = expect

    def __call__(self, spellings: Sequence[str]) -> list[WeightFacts]:
        """Return the facts about each weight. A weight that cannot be read has the reason."""
        values = [self._value(each) for each in spellings]
        sizes = [value_size(value) for value in values if value is not None]
        most = limit(sizes)
        if self._expect:
            self._expect(lambda: sum(min(size, most) for size in sizes))
        try:
            return [self._facts(value, most) for value in values]
        finally:
            self._files.close()

    def _value(self, spelled: str) -> Value | None:
        from miltext.parsing.parser import parse_value

        if found := _ELIDED.search(spelled):
            return self._elided.get(found[0])
        try:
            return parse_value(spelled)
        except MiltextError:
            return None

    def _facts(self, value: Value | None, most: int) -> WeightFacts:
        if value is None:
            return WeightFacts(reason=LEFT_OUT)
        facts = _stated(value)
        try:
            tensor = self._files.tensor(value)
            if tensor is None:
                return facts._replace(reason="its elements do not fill its type")
            facts = facts._replace(elements=tensor.count, size=tensor.size)
            return facts._replace(statistics=_summary(tensor, most, self._files.progress))
        except MiltextError as failure:
            return facts._replace(reason=failure.diagnostics[0].message)
        except OSError as failure:
            return facts._replace(reason=failure.strerror or str(failure))


def limit(sizes: Sequence[int]) -> int:
    """Return the bytes to read of each weight at most, for weights of these sizes."""
    most = MOST_BYTES
    while most > LEAST and sum(min(size, most) for size in sizes) > PAGE:
        most //= 2
    return most


def _stated(value: Value) -> WeightFacts:
    """Return the facts that a value states."""
    dtype, shape = tensor_dtype(value.type), tensor_shape(value.type)
    known = dtype is not None and shape is not None
    place = value.blobFileValue
    return WeightFacts(
        dtype.name if dtype else "",
        f"[{', '.join(map(str, shape))}]" if shape is not None else "",
        prod(shape or ()) if known else 0,
        value_size(value),
        place.fileName,
        place.offset,
    )


def _summary(tensor: Tensor, most: int, progress: Progress | None) -> tuple[str, str, str, float, int] | None:
    """Return the statistics of a tensor's first `most` bytes, as a page has them."""
    found = statistics(tensor, progress, most * 8 // tensor.dtype.bits)
    if found is None:
        return None
    least, greatest, mean, zeros, elements = found
    return _text(least), _text(greatest), _text(mean), round(zeros, 6), elements


def _text(number: float) -> str:
    return str(number).lower() if isinstance(number, int) else f"{number:.6g}"
