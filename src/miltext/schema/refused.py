"""The table of functions that Core ML refuses although coremltools' loader accepts them, with a row for each reason.

Each row names its public source: coremltools 9.0 (`converters/mil/backend/mil/load.py` writes descriptions), the
validator of models that coremltools publishes (`mlmodel/src/Validation`), or its maintainers' words in an issue.
Refusals of coremltools' loader are in the table of operations. Rows of a `described input` or a `described output`
apply to models, which have a description, and to files that `build` may make models of: a text in memory may have any
types. Conditions of shape [1] are not listed: Apple's compiler takes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from miltext.diagnostics import codes
from miltext.schema.dtypes import BY_NAME
from miltext.schema.features import ELEMENTS, LABEL_ELEMENTS
from miltext.schema.operations import opset_place, since
from miltext.schema.types import DictionaryType, ListType, StateType, TensorType, TupleType, Type, is_known, is_whole


class RefusedPort(NamedTuple):
    """A part of a function that a row may refuse.

    The `side` is `input`, `output` or `constant`, each with a name and a type, `described input` or `described output`,
    too; or `outputs`, all together. `opset` is the block's. `times` is the number of times that the block returns the
    name, or the number of all outputs. `is_taken` is true for an input that the block returns.
    """

    side: str
    opset: str
    name: str = ""
    type: Type = None
    times: int = 0
    is_taken: bool = False


class Refusal(NamedTuple):
    """One row: the refused condition (`holds` of one side), its severity, the way out and the public source of the
    fact.

    `message` and `way_out` may name parts of the port: `{name}`, `{dtype}`, `{since}`.
    """

    code: str
    side: str
    holds: Callable[[RefusedPort], bool]
    severity: str
    message: str
    way_out: str
    source: str


def _state(port: RefusedPort) -> TensorType | None:
    """Return the tensor in a state; None for any other value."""
    held = port.type.wrapped if isinstance(port.type, StateType) else None
    return held if isinstance(held, TensorType) else None


_KINDS = {ListType: "the type list", TupleType: "the type tuple", DictionaryType: "the type dict"}


def dtype_of(port: RefusedPort) -> str:
    """Return the data type of a port, or of a state's value; for any other type, the word for its kind."""
    held = _state(port) or port.type
    return held.dtype if isinstance(held, TensorType) else _KINDS.get(type(held), "")


def _is_too_new(port: RefusedPort) -> bool:
    """Return whether a constant's elements share bytes in an opset before the first that unpacks them."""
    dtype = dtype_of(port)
    first = since(dtype)
    return bool(first) and BY_NAME[dtype].packed and opset_place(port.opset) < opset_place(first)


def _is_undescribed(port: RefusedPort) -> bool:
    """Return whether the type of a port fits neither a multi-array, a class label, nor a dictionary of these."""
    held = port.type if is_known(port.type) else None
    if isinstance(held, TensorType):
        return held.dtype not in (*ELEMENTS, *(LABEL_ELEMENTS if held.shape == () else ()))
    if isinstance(held, DictionaryType):
        return not isinstance(held.key, TensorType) or held.key.dtype not in LABEL_ELEMENTS
    return isinstance(held, ListType | TupleType)


_ARRAYS = "coremltools 9.0, mlmodel/format/FeatureTypes.proto: ArrayFeatureType.ArrayDataType lists what arrays are of"

REFUSED: tuple[Refusal, ...] = (
    Refusal(
        codes.TYPE_NOT_IN_DESCRIPTIONS,
        "described input",
        _is_undescribed,
        "error",
        "the input {name} is of {dtype}, which a Core ML description cannot have",
        "take fp16, fp32, fp64, int32 or int8, and cast that",
        _ARRAYS,
    ),
    Refusal(
        codes.TYPE_NOT_IN_DESCRIPTIONS,
        "described output",
        _is_undescribed,
        "error",
        "the output {name} is of {dtype}, which a Core ML description cannot have",
        "cast it to fp16, fp32, fp64, int32 or int8",
        _ARRAYS,
    ),
    Refusal(
        codes.STATE_NOT_FP16,
        "input",
        lambda port: _state(port) is not None and dtype_of(port) != "fp16",
        "error",
        "the state {name} holds {dtype}, and Core ML only takes states of fp16",
        "make it fp16, and cast read and written values",
        "coremltools 9.0, backend/mil/load.py: State only support fp16 dtype",
    ),
    Refusal(
        codes.STATE_OF_UNKNOWN_SIZE,
        "input",
        lambda port: (held := _state(port)) is not None and not is_whole(held),
        "error",
        "the state {name} has an unknown size, and Core ML only takes states of known sizes",
        "write its sizes",
        "coremltools 9.0, backend/mil/load.py: Flexible shape model states are not supported",
    ),
    Refusal(
        codes.LATER_CONSTANT_TYPE,
        "constant",
        _is_too_new,
        "error",
        "{name} is of {dtype}, which came with {since}",
        "name that opset or a later one, or write the constant as int8 or uint8",
        "coremltools 9.0, ops/defs/iOS18/compression.py: no operation before takes elements of less than a byte",
    ),
    Refusal(
        codes.STATE_AS_OUTPUT,
        "output",
        lambda port: isinstance(port.type, StateType),
        "error",
        "the state {name} is returned, but a state cannot be an output of a model",
        "return the value of its `read_state`",
        "coremltools, mlmodel/src/Validation/InterfaceValidators.cpp: State feature should only be declared in the"
        " state feature description",
    ),
    Refusal(
        codes.NO_OUTPUTS,
        "outputs",
        lambda port: port.times == 0,
        "error",
        "the function returns nothing, but a model needs at least one output",
        "return a value",
        "coremltools, mlmodel/src/Validation/Validators.hpp: Models must have one or more outputs",
    ),
    Refusal(
        codes.OUTPUT_TWICE,
        "output",
        lambda port: port.times > 1,
        "warning",
        "{name} is returned more than once, but output names must be unique",
        "return its `identity` under another name",
        "https://github.com/apple/coremltools/issues/1887: the model has both, the prediction has one",
    ),
    Refusal(
        codes.INPUT_AS_OUTPUT,
        "output",
        lambda port: port.is_taken and not isinstance(port.type, StateType),
        "warning",
        "the input {name} is returned unchanged, but an output needs its own name in Core ML",
        "return its `identity` under another name",
        "https://github.com/apple/coremltools/issues/2184: in Core ML input and output must have different names",
    ),
)
"""The rows in the order of their codes."""

CODES = frozenset(row.code for row in REFUSED)
"""The codes of the rows."""
