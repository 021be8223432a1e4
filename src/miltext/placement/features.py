"""The features of an operation that rules test: types, ranks, sizes, parameters, and the sizes of a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from miltext.ir.parts import Value, literal_of
from miltext.schema.operations import signature
from miltext.schema.tensors import literal, numbers, tensor_form
from miltext.schema.types import ListType, TensorType, read_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from miltext.ir.parts import Op, Operand
    from miltext.schema import proto
    from miltext.schema.types import Type

Word: TypeAlias = "str | int | float"

Features: TypeAlias = Mapping[str, frozenset[Word]]
"""The values of each known feature. An unknown feature is absent."""

JOINED = frozenset({"axis", "axes", "perm", "reps"})
"""The parameters whose numbers are one word."""

MOST = 64
"""The most elements of a constant that is read."""

COMPRESSED = "compressed"
"""The data type of a constant that a `constexpr_` operation makes."""

PLAIN = frozenset({"int32", "bool", "string"})
"""The data types of constants that are parameters rather than weights."""

_KERNELS = {"conv": "weight", "conv_transpose": "weight", "avg_pool": "", "max_pool": "", "l2_pool": ""}
_EDGES = {
    1: ("kernel_length",),
    2: ("kernel_height", "kernel_width"),
    3: ("kernel_depth", "kernel_height", "kernel_width"),
}
"""The names of the sizes of a kernel, by their number."""


def features_of(op: Op) -> Features:
    """Return the features of an operation."""
    found: dict[str, frozenset[Word]] = {"parameters": frozenset(op.inputs)}
    computed = [each for _, each in _operands(op) if is_computed(each)]
    made = [value.type for value in op.outputs]
    used = [value.type for value in computed]
    found["computed"] = frozenset(parameter for parameter, each in _operands(op) if is_computed(each))
    for name, types in (("in", used), ("out", made), ("any", used + made)):
        found[name] = frozenset(_dtype(each) for each in types)
    found["weights"] = frozenset(_weights(op))
    shapes = [each.shape if isinstance(each, TensorType) else (None,) for each in used + made]
    found["rank"] = frozenset(map(len, shapes))
    found["ranks"] = frozenset({f"{_ranks(used)} -> {_ranks(made)}"})
    sizes = [size for shape in shapes for size in shape]
    known = frozenset(size for size in sizes if size is not None)
    if len(known) == len(frozenset(sizes)):
        found["sizes"] = known
        found["elements"] = frozenset({max(map(prod, _whole(shapes)), default=0)})
    if known:
        found["largest"] = frozenset({max(known)})
    found |= dict(_constants(op))
    found |= _joined(op, used[0] if used else None)
    found |= _kernel(op)
    found |= _weight(op)
    found |= _scales(op)
    found |= _inner(op, found)
    if "kernel_width" in found and "strides" in found:
        found["steps"] = frozenset({"true" if found["strides"] == found["kernel_width"] else "false"})
    return found


def omitted_features(op: Op, opset: str) -> Features:
    """Return the defaults of the parameters that an operation omits: it computes the same with them."""
    known = signature(op.type, opset)
    left_out = [] if known is None else [each for each in known.parameters.values() if each.name not in op.inputs]
    shape = _shape(next((each for _, each in _operands(op) if is_computed(each)), None)) or ()
    found: dict[str, frozenset[Word]] = {}
    for name, default in ((each.name, each.default) for each in left_out if each.default is not None):
        if name not in JOINED:
            found[name] = frozenset({str(default).lower() if isinstance(default, bool) else default})
        elif isinstance(default, int) and -len(shape) <= default < len(shape):
            found[name] = frozenset({str(range(len(shape))[default])})
    return found


def _ranks(types: Sequence[Type]) -> str:
    return "+".join(str(len(each.shape)) if isinstance(each, TensorType) else "?" for each in types)


def _whole(shapes: Iterable[Sequence[int | None]]) -> Iterator[list[int]]:
    """Yield shapes whose sizes are all known."""
    return ([size for size in shape if size is not None] for shape in shapes)


def _joined(op: Op, first: Type | None) -> dict[str, frozenset[Word]]:
    """Return the numbers of a parameter as one word, `2+3`, because they count together; axes from the first one on."""
    found: dict[str, frozenset[Word]] = {}
    for name in JOINED & op.inputs.keys():
        listed = _integers(op.operand(name))
        if listed is None:
            continue
        if name in ("axis", "axes"):
            if not isinstance(first, TensorType):
                continue
            rank = len(first.shape) + (op.type in ("expand_dims", "stack"))
            listed = sorted(each + rank if each < 0 else each for each in listed)
        found[name] = frozenset({"+".join(map(str, listed)) or "nothing"})
    return found


def _weight(op: Op) -> dict[str, frozenset[Word]]:
    """Return the channels of a kernel: how many come in to each group, and how many go out."""
    shape = _shape(op.operand("weight"))
    if shape is None or len(shape) < 2 or op.type not in ("conv", "conv_transpose", "linear"):
        return {}
    found: dict[str, frozenset[Word]] = {"filters": frozenset({shape[0]})}
    return found if op.type == "linear" else {**found, "channels": frozenset({shape[1]})}


def _shape(operand: Operand) -> Sequence[int] | None:
    """Return the sizes of an argument; None if one is unknown."""
    stated = None if operand is None else operand.type if isinstance(operand, Value) else read_type(operand.type)
    if not isinstance(stated, TensorType):
        return None
    sizes = [size for size in stated.shape if size is not None]
    return sizes if len(sizes) == len(stated.shape) else None


def _scales(op: Op) -> dict[str, frozenset[Word]]:
    """Return the factors of the sizes of a resized picture."""
    if not op.type.startswith("resize") or not op.outputs:
        return {}
    before, after = _shape(op.operand("x")), _shape(op.outputs[0])
    if before is None or after is None or len(before) != len(after) or 0 in before:
        return {}
    return {"scale": frozenset(float(new / old) for new, old in zip(after, before, strict=True))}


def is_computed(operand: Operand) -> TypeGuard[Value]:
    """Return whether an argument is a value that is computed at run time."""
    return isinstance(operand, Value) and not operand.is_constant


def _operands(op: Op) -> Iterator[tuple[str, Operand]]:
    return ((parameter, each) for parameter, every in op.inputs.items() for each in every)


def _dtype(type: object) -> str:
    if isinstance(type, ListType):
        return f"list of {_dtype(type.element)}"
    return type.dtype if isinstance(type, TensorType) else "?"


def _weights(op: Op) -> Iterator[str]:
    """Yield the data types of the weights of an operation: constants that are not plain parameters."""
    for _, each in _operands(op):
        if is_computed(each) or each is None:
            continue
        stated = literal_of(each)
        if stated is None:
            yield COMPRESSED
            continue
        form = tensor_form(stated.type)
        if form is not None and form[1] and form[0].name not in PLAIN:
            yield form[0].name


def _constants(op: Op) -> Iterator[tuple[str, frozenset[Word]]]:
    """Yield the elements of small constants by parameter, and the rank of each constant."""
    for parameter, each in _operands(op):
        stated = None if is_computed(each) else literal_of(each)
        if stated is None:
            continue
        form = tensor_form(stated.type)
        if form is not None:
            yield f"{parameter}.rank", frozenset({len(form[1])})
            yield f"{parameter}.type", frozenset({form[0].name})
        if (words := elements(stated)) is not None:
            yield parameter, frozenset(words)


def elements(stated: proto.Value) -> Sequence[Word] | None:
    """Return the elements of a small constant; None of any other value. A truth value is `true` or `false`."""
    strings = stated.immediateValue.tensor.strings.values
    if strings:
        return [*strings]
    found = _numbers(stated)
    return found and [str(each).lower() if isinstance(each, bool) else each for each in found]


def _integers(operand: Operand) -> list[int] | None:
    """Return the numbers of a small constant as integers; None of any other operand."""
    constant = literal_of(operand)
    found = None if constant is None else _numbers(constant)
    return None if found is None else [int(each) for each in found]


def _numbers(constant: proto.Value) -> Sequence[bool | int | float] | None:
    tensor = literal(constant)
    return None if tensor is None or tensor.count > MOST else numbers(tensor.data, tensor.dtype, tensor.count)


def _kernel(op: Op) -> dict[str, frozenset[Word]]:
    """Return the sizes of the kernel of a convolution or a pool, and whether it is square."""
    if op.type not in _KERNELS:
        return {}
    sizes = _sizes(op, _KERNELS[op.type] or "kernel_sizes")
    if sizes is None or len(sizes) not in _EDGES:
        return {}
    found: dict[str, frozenset[Word]] = {
        name: frozenset({size}) for name, size in zip(_EDGES[len(sizes)], sizes, strict=True)
    }
    return {**found, "square": frozenset({"true" if len(set(sizes)) == 1 else "false"})}


def _sizes(op: Op, parameter: str) -> Sequence[int] | None:
    """Return the sizes of a kernel: the last of a weight's, or the elements of a constant."""
    operand = op.operand(parameter)
    if parameter == "weight":
        stated = operand.type if isinstance(operand, Value) else None
        if operand is not None and not isinstance(operand, Value):
            form = tensor_form(operand.type)
            return None if form is None else form[1][2:]
        sizes = stated.shape[2:] if isinstance(stated, TensorType) else (None,)
        return None if None in sizes else [size for size in sizes if size is not None]
    return _integers(operand)


def _inner(op: Op, known: Features) -> dict[str, frozenset[Word]]:
    """Return the inner size of a product of matrices."""
    shape = _shape(op.operand("x")) if op.type in ("matmul", "linear") else None
    if not shape:
        return {}
    is_turned = known.get("transpose_x") == frozenset({"true"}) and len(shape) > 1
    return {"inner": frozenset({shape[-2] if is_turned else shape[-1]})}
