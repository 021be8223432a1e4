"""coremltools' own loader, asked whether it takes a Program: what it refuses, why, and what it cannot judge."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from miltext.schema.opsets import specification_of
from miltext.schema.proto import Program
from miltext.schema.types import TensorType, Type

LIMITS = (
    "Functions input of type",
    "Relational",
    "symbolic",
    "is the only supported attribute",
    "Negative or Dynamic ranks",
    "Symbol",
)
"""What coremltools 9.0 says of what it cannot load, though nothing is wrong with it."""

DECLARED = "Mismatch between var types"
"""How coremltools begins what it says of a declared type that does not follow."""


class Refusal(NamedTuple):
    """Why coremltools does not load a Program: the kind of the exception, its message, and where it was raised.

    `types` are those of the outputs that coremltools itself has for the operation at which it stopped; `names` are the
    names of these outputs.
    """

    kind: str
    message: str
    where: str
    names: tuple[str, ...]
    types: tuple[Type, ...] | None

    @property
    def is_limit(self) -> bool:
        """Whether coremltools cannot load it, right or wrong."""
        return self.kind == "NotImplementedError" or any(words in self.message for words in LIMITS)

    @property
    def is_of_declared(self) -> bool:
        """Whether nothing is wrong but a type that the operation declares."""
        return self.message.startswith(DECLARED)


def refusal(program: Program) -> Refusal | None:
    """Return why coremltools does not load a Program, None where it does; `weights_made_up` has to be around."""
    from coremltools.converters.mil.frontend.milproto import load
    from coremltools.converters.mil.mil import block
    from coremltools.proto import MIL_pb2

    specification = max(specification_of(each.opset) or 9 for each in program.functions.values())
    try:
        with np.errstate(all="ignore"):
            load.load_mil_proto(MIL_pb2.Program.FromString(program.SerializeToString()), min(specification, 9))
    except Exception as failure:  # noqa: BLE001  # whatever the loader runs into is what it says
        return _refusal(failure)
    finally:
        block.BLOCK_STACK = []
    return None


@contextmanager
def weights_made_up() -> Iterator[None]:
    """Load Programs without their weight files in a `with` block: floats are ones, integers zeros."""
    from coremltools.converters.mil.frontend.milproto import load

    read_value, read_file = load._load_value, load._load_file_value
    shapes: list[tuple[int, ...]] = [()]

    def value(context: Any, spec: Any) -> Any:
        shapes.append(tuple(each.constant.size for each in spec.type.tensorType.dimensions))
        try:
            return read_value(context, spec)
        finally:
            shapes.pop()

    load._load_value, load._load_file_value = value, lambda context, spec, dtype: _made_up(dtype, shapes[-1])
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
        load._load_value, load._load_file_value = read_value, read_file


def _made_up(dtype: Any, shape: tuple[int, ...]) -> Any:
    """Return what coremltools' reader of weights would: an array, or the bytes of what numpy has no type for."""
    from coremltools.converters.mil.mil import types

    count = int(np.prod(shape))
    if types.is_sub_byte(dtype):
        return (b"\xff" if dtype == types.uint1 else b"\0") * (-(-count * dtype.get_bitwidth() // 8))
    numpy = types.nptype_from_builtin(dtype)
    array = np.zeros(count, numpy) if np.issubdtype(numpy, np.integer) else np.ones(count, numpy)
    return array.tobytes() if dtype in types.IMMEDIATE_VALUE_TYPES_IN_BYTES else array


def _refusal(failure: Exception) -> Refusal:
    said = str(failure.args[0]) if failure.args else ""
    frames = list(_frames(failure.__traceback__))
    operation = next((frame for frame in reversed(frames) if frame.f_code.co_name == "_load_operation"), None)
    held = {} if operation is None else operation.f_locals
    code = frames[-1].f_code
    where = f"{os.path.basename(code.co_filename)}:{code.co_name}"
    names = tuple(output.name for output in held["op_spec"].outputs) if "op_spec" in held else ()
    made = held.get("output_var")
    outputs = made if isinstance(made, list | tuple) else [] if made is None else [made]
    return Refusal(type(failure).__name__, " ".join(said.split())[:200], where, names, _types(outputs))


def _frames(traceback: TracebackType | None) -> Iterator[Any]:
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _types(outputs: Any) -> tuple[Type, ...] | None:
    """Return the types of coremltools' Vars; None where there are none, or others than tensors, or sizes below zero."""
    from coremltools.converters.mil.mil import types

    if not outputs or any(types.is_list(each.sym_type) or types.is_dict(each.sym_type) for each in outputs):
        return None
    made = tuple(_tensor(each.sym_type) for each in outputs)
    return None if any(size is not None and size < 0 for each in made for size in each.shape) else made


def _tensor(found: Any) -> TensorType:
    from coremltools.converters.mil.mil import types

    element = found.get_primitive() if types.is_tensor(found) else found
    shape = found.get_shape() if types.is_tensor(found) else ()
    sizes = tuple(None if types.symbolic.is_symbolic(size) else int(size) for size in shape)
    return TensorType(types.builtin_to_string(element), sizes)
