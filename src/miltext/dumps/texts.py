"""Dumps: MIL text with the types of the runtime, and with the backends of each operation as attributes.

A dump never becomes a Program, because no Program holds its types. Its phrases are lowered by the one Lowering, with
two methods of its own, to messages that only readers of dumps see.
Source: 84 dumps of macOS 27.0.1, see docs/placement.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, nan
from typing import TYPE_CHECKING

from miltext.dumps.placed import SUFFIX, PlacedOperation, SwitchingCosts
from miltext.dumps.recognition import REASONS, SELECTED, SUPPORT, TIMES
from miltext.parsing.lowering import Lowering
from miltext.parsing.lowering.types import tensor_type
from miltext.parsing.parser import lower
from miltext.schema.proto import Program
from miltext.schema.walk import operations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.parsing.lowering.types import LoweredType
    from miltext.parsing.lowering.values import Children
    from miltext.schema.proto import Function, Operation, Value

UNSUPPORTED = "unsupported"
"""The word in place of a backend that does not take an operation."""

_START, _SWITCH = re.compile("Launch_(.+)_ms"), re.compile("Src_(.+)_Dest_(.+)_ms")


class DumpLowering(Lowering):
    """A Lowering that also accepts syntax of the runtime: types of buffers, and an opset at an operation."""

    def tensor_buffer_type(self, children: Children) -> LoweredType:
        """`tensor_buffer<fp16, shape=[1], strides=[1], interleave_factors=[1]>`, as the tensor in the buffer"""
        number, dtype = children[2]
        return tensor_type(number, dtype, children[6])

    def operation(self, children: Children) -> bytes:
        """`tensor<fp16, [1]> y = tensor_buffer_to_tensor<ios17>(input = x);`, without its opset"""
        return super().operation([*children[:3], None, *children[4:]])


@dataclass(frozen=True)
class Dump:
    """A dump: its `text`, its `placed` operations in the order of the text, and the costs between them by function.

    `stated` are the messages of its phrases, for checks.
    """

    text: str
    placed: list[PlacedOperation]
    costs: Mapping[str, SwitchingCosts]
    stated: Program


@lru_cache(maxsize=4)
def read_dump(text: str, path: str | None = None) -> Dump:
    """Return the dump that a text spells. Raise ParseError."""
    stated = Program.FromString(lower(text, path, DumpLowering()))
    read = {name: _costs(stated.functions[name]) for name in sorted(stated.functions)}
    costs = {name: each for name, each in read.items() if each is not None}
    return Dump(text, list(_placed(stated)), costs, stated)


def _placed(stated: Program) -> Iterator[PlacedOperation]:
    for path, operation in operations(stated):
        if operation.type == "const":
            continue
        attributes = operation.attributes
        yield PlacedOperation(
            str(path[1]),
            operation.type,
            _name(operation),
            _string(attributes[SELECTED]) if SELECTED in attributes else None,
            _supported(attributes[SUPPORT]) if SUPPORT in attributes else (),
            {key: _string(value) for key, value in _pairs(attributes, REASONS)},
            {key: time for key, value in _pairs(attributes, TIMES) if (time := _time(value)) is not None},
            path=path,
        )


def _name(operation: Operation) -> str:
    """Return the name of an operation: its first output, without the suffix of the runtime."""
    if not operation.outputs:
        return _string(operation.attributes["name"]) if "name" in operation.attributes else ""
    return operation.outputs[0].name.removesuffix(SUFFIX)


def _costs(function: Function) -> SwitchingCosts | None:
    """Return the costs that the attributes of a function state; None if there are none, or one is not a time."""
    start, switch = dict[str, float](), dict[tuple[str, str], float]()
    for key in sorted(function.attributes):
        begin, change = _START.fullmatch(key), _SWITCH.fullmatch(key)
        if begin is None and change is None:
            continue
        time = _time(function.attributes[key])
        if time is None:
            return None
        if begin is not None:
            start[begin[1]] = time
        elif change is not None:
            switch[change[1], change[2]] = time
    return SwitchingCosts(start, switch) if start and switch else None


# ---- values of attributes


def _string(value: Value) -> str:
    return next(iter(value.immediateValue.tensor.strings.values), "")


def _time(value: Value) -> float | None:
    """Return milliseconds; None for a value that is not a time, such as NaN or a negative number."""
    tensor = value.immediateValue.tensor
    stated = tensor.doubles.values or tensor.floats.values or tensor.ints.values or tensor.longInts.values
    time = float(next(iter(stated), nan))
    return time if isfinite(time) and time >= 0 else None


def _supported(value: Value) -> tuple[str, ...]:
    words = map(_string, value.immediateValue.list.values)
    return tuple(word for word in words if word != UNSUPPORTED)


def _pairs(attributes: Mapping[str, Value], key: str) -> Iterator[tuple[str, Value]]:
    if key in attributes:
        for pair in attributes[key].immediateValue.dictionary.values:
            yield _string(pair.key), pair.value
