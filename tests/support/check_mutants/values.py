"""Mutants of the values of constants: numbers out of range, too few of them, words that are not of the set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from support.check_mutants.constants import Constant, made, read
from support.check_mutants.sites import Copy, Mutant, Site

from miltext.schema.proto import Value
from miltext.schema.types import TensorType, read_type

Other: TypeAlias = "tuple[str, Constant]"
"""A constant to put in the place of another, and what is wrong with it."""

FAR, BELOW = 100, -100
LONGEST = 16
"""The most elements of a constant that is changed."""

AXES = frozenset("axis axes seq_axis batch_axis vector_axis input_axis".split())

_KINDS = {
    "axes": " ".join(sorted(AXES)),
    "counts, indices, perm, others": "perm indices split_sizes num_splits batch_dims k one_hot_vector_size max_boxes",
    "pads, crops": "pad pads paddings crops crop_height crop_width",
    "strides, dilations, kernel, groups": "strides stride dilations kernel_sizes size groups scale_factor_height "
    "scale_factor_width block_size block_shape upscale_factor downscale_factor",
    "slice bounds": "begin end begins ends",
    "target shapes": "shape output_shape reps target_size_height target_size_width",
    "einsum": "equation",
}
KIND = {parameter: kind for kind, parameters in _KINDS.items() for parameter in parameters.split()}
"""The class of mistakes that a parameter's value belongs to."""

SLICES = ("slice_by_index", "slice_update", "slice_by_size")
EQUATIONS = (
    "ab,bc->ad",
    "ab,bc",
    "abc,cd,de->abe",
    "a->a",
    "ij,jk->ikk",
    "nchw,nwhu->nchuz",
    "AB,BC->AC",
    "",
    "...ij,...jk->...ik",
    "nchw,nwhu->nchu->n",
)
DTYPE_WORDS = ("fp64", "string", "uint32", "int64", "float")


def kind_of(operation: str, parameter: str, dtype: str) -> str:
    """Return the class of mistakes that a wrong value of a parameter is one of."""
    if operation in SLICES and parameter in ("size", "stride"):
        return "slice bounds"
    if dtype == "string" and parameter != "equation":
        return "strings of a set"
    return KIND.get(parameter, "counts, indices, perm, others")


def value_mutants(site: Site) -> Iterator[Mutant]:
    """Put another value in the place of each constant that an operation is given."""
    if site.operation.type == "const":
        return
    rank = _rank(site)
    for parameter, index, value in _constants(site):
        constant = read(value)
        if constant is None or (len(constant.flat) > LONGEST and parameter != "indices"):
            continue
        kind = kind_of(site.operation.type, parameter, constant.dtype)
        for label, other in _others(constant, parameter, rank):
            said = f"{parameter}: {label}: {constant.flat[:6]} -> {other.flat[:6]}"
            nonsense = _is_nonsense(kind, rank, constant, other)
            yield Mutant(kind, said, _with(site, parameter, index, other), parameter, nonsense=nonsense)


def _is_nonsense(kind: str, rank: int, constant: Constant, other: Constant) -> bool:
    """Whether a value cannot be right: axes that the operand does not have, or new numbers that are too small."""
    if not other.is_integer or kind == "slice bounds":
        return False
    if kind == "axes":
        return any(not -rank <= axis < rank for axis in other.flat) or len({*other.flat}) < len(other.flat)
    least = 1 if kind.startswith("strides") else 0
    return any(number < least for number in other.flat if number not in constant.flat)


def _constants(site: Site) -> Iterator[tuple[str, int, Value]]:
    for parameter, index, binding in site.bindings():
        given = site.given(binding)
        if given is not None and given.value is not None:
            yield parameter, index, given.value
    yield from (
        (name, 0, site.operation.attributes[name]) for name in sorted(site.operation.attributes) if name != "name"
    )


def _rank(site: Site) -> int:
    """Return the rank of what the operation is about."""
    given = {parameter: site.given(binding) for parameter, _, binding in reversed([*site.bindings()])}
    for parameter in ("x", "values", "data", "input", "indices"):
        seen = given.get(parameter)
        stated = read_type(seen.type) if seen else None
        if isinstance(stated, TensorType):
            return len(stated.shape)
    return 0


def _with(site: Site, parameter: str, index: int, constant: Constant) -> Copy:
    copy = site.copy()
    operation = copy.operation
    if parameter in operation.inputs:
        operation.inputs[parameter].arguments[index].value.CopyFrom(made(constant))
    else:
        operation.attributes[parameter].CopyFrom(made(constant))
    return copy


def _others(constant: Constant, parameter: str, rank: int) -> Iterator[Other]:
    """Yield values that are not the constant's, each with what is wrong with it."""
    if constant.dtype == "string":
        found = _words(constant, parameter)
    elif constant.is_integer:
        found = _integers(constant, parameter, rank) if constant.shape else _integer(constant, parameter, rank)
    elif constant.dtype == "bool":
        found = _truths(constant)
    else:
        found = _floats(constant)
    return ((label, other) for label, other in found if other != constant and _is_of(other))


def _is_of(constant: Constant) -> bool:
    """Whether the elements are of the data type: an unsigned one has no negative number."""
    return not constant.dtype.startswith("uint") or min(constant.flat, default=0) >= 0


def _words(constant: Constant, parameter: str) -> Iterator[Other]:
    words = [
        ("no such word", "sam"),
        ("empty", ""),
        ("another case", constant.flat[0].swapcase() if constant.flat else ""),
    ]
    if parameter == "equation":
        words = [("equation", equation) for equation in EQUATIONS]
    elif "dtype" in parameter:
        words += [("another data type", word) for word in DTYPE_WORDS]
    yield from ((label, _flat(constant, [word, *constant.flat[1:]])) for label, word in words)


def _flat(constant: Constant, flat: list[Any]) -> Constant:
    """Return a constant with other elements, and a shape for their number if that is another."""
    return constant._replace(flat=flat, shape=constant.shape if len(flat) == len(constant.flat) else (len(flat),))


def _integer(constant: Constant, parameter: str, rank: int) -> Iterator[Other]:
    (number,) = constant.flat or [0]
    numbers = [("far above", FAR), ("far below", BELOW), ("zero", 0), ("minus one", -1), ("plus one", number + 1)]
    for label, other in [*numbers, *(_past(rank) if parameter in AXES else ())]:
        yield label, _flat(constant, [other])


def _past(rank: int) -> list[tuple[str, int]]:
    """Return axes that a rank does not have."""
    return [("rank", rank), ("rank + 1", rank + 1), ("-rank - 1", -rank - 1), ("-rank - 2", -rank - 2)]


INTEGERS: dict[str, Callable[[list[int]], list[int]]] = {
    "far above": lambda flat: [FAR, *flat[1:]],
    "far below": lambda flat: [BELOW, *flat[1:]],
    "zero": lambda flat: [0, *flat[1:]],
    "minus one": lambda flat: [-1, *flat[1:]],
    "plus one": lambda flat: [flat[0] + 1, *flat[1:]],
    "last plus one": lambda flat: [*flat[:-1], flat[-1] + 1],
    "last minus one": lambda flat: [*flat[:-1], -1],
    "last zero": lambda flat: [*flat[:-1], 0],
    "duplicate": lambda flat: [flat[-1], *flat[1:]],
    "reversed": lambda flat: flat[::-1],
    "all minus one": lambda flat: [-1] * len(flat),
    "all zero": lambda flat: [0] * len(flat),
}
COUNTS: dict[str, Callable[[list[int]], list[int]]] = {
    "too few": lambda flat: flat[:-1],
    "too many": lambda flat: [*flat, flat[-1]],
    "too many (1)": lambda flat: [*flat, 1],
    "twice": lambda flat: [*flat, *flat],
}


def _integers(constant: Constant, parameter: str, rank: int) -> Iterator[Other]:
    if not constant.flat:
        return
    tried = dict[tuple[int, ...], str]()
    for label, change in (INTEGERS | COUNTS if len(constant.shape) == 1 else INTEGERS).items():
        tried.setdefault(tuple(change(constant.flat)), label)
    for label, axis in _past(rank) if parameter in AXES else ():
        tried.setdefault((axis, *constant.flat[1:]), label)
    yield from ((label, _flat(constant, list(flat))) for flat, label in tried.items())


def _floats(constant: Constant) -> Iterator[Other]:
    if not 0 < len(constant.flat) <= 4:
        return
    for label, number in (
        ("negative", -1.0),
        ("zero", 0.0),
        ("nan", float("nan")),
        ("inf", float("inf")),
        ("large", 1e4),
    ):
        yield label, _flat(constant, [number, *constant.flat[1:]])


def _truths(constant: Constant) -> Iterator[Other]:
    flat = constant.flat
    if flat:
        yield "flipped", _flat(constant, [not flat[0], *flat[1:]])
    if len(constant.shape) == 1 and flat:
        yield "too few", _flat(constant, flat[:-1])
        yield "too many", _flat(constant, [*flat, flat[-1]])
