"""Limits of arguments besides data types: shapes, ranges, axes, sets of words, from the table of
`miltext.schema.operations`.

Limits that rules compute belong to `miltext.checking.inference`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from miltext.checking.inference.operands import InputClash, InputConflict
from miltext.checking.inference.positions import hold_axes
from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.schema.dtypes import ELSEWHERE
from miltext.schema.shape_patterns import NamedSizes, Pattern, Term, agreed
from miltext.schema.types import Dimension, Shape, TensorType, show, spelled
from miltext.syntax.floats import FORMATS, bits_of, decimal_text

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Operand, Row
    from miltext.schema.operations import Parameter, Signature

FEW = 8
"""The most elements of a suggested vector."""


def clashes(known: Signature, operands: Mapping[str, Sequence[Operand]], dialect: str) -> Iterator[InputClash]:
    """Yield the clashes of an operation's arguments with their limits, at most one per argument."""
    judged = {name: operand for name, operand in _singles(known, operands) if isinstance(operand.type, TensorType)}
    sizes = agreed({name: (known.parameters[name].shape, _shape_of(operand)) for name, operand in judged.items()})
    wrong: dict[str, InputClash] = {}
    if sizes is None:
        sizes = NamedSizes()
        wrong = wrong_shapes(known, judged, sizes, dialect)
        yield from _together(wrong.values())
    for name, operand in judged.items():
        parameter = known.parameters[name]
        if name not in wrong and parameter.limited and (clash := _Elements(parameter, operand, sizes, dialect).clash()):
            yield clash


def _singles(known: Signature, operands: Mapping[str, Sequence[Operand]]) -> Iterator[tuple[str, Operand]]:
    """Yield the operands of parameters with one value, required ones first: they determine the others."""
    for required in (True, False):
        for name, parameter in known.parameters.items():
            given = operands.get(name, ())
            if len(given) == 1 and parameter.required is required and not parameter.variadic:
                yield name, given[0]


def _shape_of(operand: Operand) -> Shape:
    return operand.type.shape if isinstance(operand.type, TensorType) else ()


# ---- shapes


def wrong_shapes(
    known: Signature, operands: Mapping[str, Operand], sizes: NamedSizes, dialect: str
) -> dict[str, InputClash]:
    """Return the clashes in the shapes of arguments, by name, and bind the sizes."""
    odd = set(_odd_ranks(known, operands, sizes))
    wrong = {
        name: _wrong_rank(known.parameters[name], operand, sizes, dialect)
        for name, operand in operands.items()
        if name in odd
    }
    found = [_shape(known.parameters[name], operands, sizes, dialect) for name in operands if name not in odd]
    return wrong | {str(clash.parameter): clash for clash in filter(None, found)}


def _odd_ranks(known: Signature, operands: Mapping[str, Operand], sizes: NamedSizes) -> Iterator[str]:
    """Yield the names of arguments with a wrong rank, and bind the sizes of the others."""
    fitting = {}
    for name, operand in operands.items():
        patterns, shape = known.parameters[name].shape, _shape_of(operand)
        of_its_rank = [pattern for pattern in patterns if pattern.has_rank(len(shape))]
        if of_its_rank:
            fitting[name] = of_its_rank, shape
        elif patterns:
            yield name
    sizes.bind(fitting)


def _wrong_rank(parameter: Parameter, operand: Operand, sizes: NamedSizes, dialect: str) -> InputClash:
    """Return the clash of an argument with a wrong rank, with the intended value if it is certain."""
    patterns, shape, meant = parameter.shape, _shape_of(operand), None
    ranks = {pattern.ranks for pattern in patterns}
    given = f"a tensor of shape {show(shape)}" if shape else "a scalar"
    if ranks == {(0, 0)}:
        meant = _repeated(operand, (), dialect) if shape == (1,) else None
        takes = "a scalar"
    elif ranks == {(1, 1)}:
        meant = None if shape else _vector(operand, parameter, sizes, dialect)
        takes = "a vector"
    elif ranks <= {(0, 0), (0, 1), (1, 1)}:
        takes = "a scalar or a vector"
    else:
        written = " or ".join(pattern.text for pattern in patterns if pattern.before or pattern.after)
        takes = f"a tensor of rank {_spelled_ranks(patterns)}{', ' if written else ''}{written}"
    clause = f"takes {takes}, not {given}{to_write(meant)}"
    return InputClash(clause, parameter.name, code=codes.WRONG_ARGUMENT_RANK, suggestion=meant)


def _vector(operand: Operand, parameter: Parameter, sizes: NamedSizes, dialect: str) -> str | None:
    """Spell the single element of a constant as a vector of the right length; None if another value may be intended."""
    length = _length(parameter.shape, sizes)
    return None if parameter.axes and length > 1 else _repeated(operand, (length,), dialect)


def _length(patterns: Sequence[Pattern], sizes: NamedSizes) -> int:
    """Return the length of a vector, 1 where no argument determines it."""
    terms = [term for pattern in patterns for term in (*pattern.before, *pattern.after)]
    return next(filter(None, (term.value(sizes) for term in terms)), 1)


def _spelled_ranks(patterns: Iterable[Pattern]) -> str:
    spelled_ranks = []
    for least, most in sorted((pattern.ranks for pattern in patterns), key=lambda ranks: ranks[0]):
        many = f"{least} or more" if most is None else f"{least} to {most}"
        spelled_ranks.append(str(least) if least == most else many)
    return " or ".join(dict.fromkeys(spelled_ranks))


def to_write(meant: str | None) -> str:
    """Return the end of a clause: the text to write."""
    return f"; write `{meant}`" if meant else ""


def _repeated(operand: Operand, shape: Shape, dialect: str) -> str | None:
    """Spell the single element of a constant in another shape; None without a plain spelling."""
    return literal([operand] * _count(shape), shape, dialect) if _count(shape) <= FEW else None


def _count(shape: Shape) -> int:
    return math.prod(size or 1 for size in shape)


def literal(operands: Sequence[Operand], shape: Shape, dialect: str) -> str | None:
    """Spell the elements of constants with one element each as a scalar or a vector; None without a plain spelling."""
    dtypes = {operand.type.dtype if isinstance(operand.type, TensorType) else None for operand in operands}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    elements = [None if dtype is None else _element(operand, dtype) for operand in operands]
    if dtype is None or None in elements:
        return None
    written = ", ".join(filter(None, elements))
    return f"{spelled(TensorType(dtype, shape), dialect)}({f'[{written}]' if shape else written})"


def _element(operand: Operand, dtype: str) -> str | None:
    value = operand.value[0] if isinstance(operand.value, tuple) and operand.value else operand.value
    if not isinstance(value, bool | int | float | str):
        return None
    form = FORMATS.get(dtype) if isinstance(value, float) else None
    return decimal_text(bits_of(repr(value), form), form) if form else json.dumps(value, ensure_ascii=False)


def _together(found: Iterable[InputClash]) -> Iterator[InputClash]:
    """Join the clashes of shapes with the same arguments into one, for they are one mistake."""
    together: dict[object, list[InputClash]] = {}
    for clash in found:
        alone = clash.parameter if clash.code != codes.WRONG_ARGUMENT_SHAPE else ""
        together.setdefault((alone, *clash.beside), []).append(clash)
    for first, *others in together.values():
        yield first._replace(beside=[*first.beside, *(str(other.parameter) for other in others)])


def _shape(parameter: Parameter, operands: Mapping[str, Operand], sizes: NamedSizes, dialect: str) -> InputClash | None:
    """Compare the sizes of an argument with those determined by other arguments."""
    operand = operands[parameter.name]
    shape = _shape_of(operand)
    fitting = [pattern for pattern in parameter.shape if pattern.has_rank(len(shape))]
    found = [sizes.clashes(pattern, shape) for pattern in fitting]
    if not found or not all(found):
        return None
    beside = [name for name in sizes.parameters_of(found[0]) if name != parameter.name]
    others = " and ".join(f"`{name}` is of shape {show(_shape_of(operands[name]))}" for name in beside)
    must = " or ".join(dict.fromkeys(map(sizes.filled, fitting)))
    meant = _vector(operand, parameter, sizes, dialect) if shape == (1,) else None
    clause = f"must be of shape {must}, not {show(shape)}{'; ' if others else ''}{others}{to_write(meant)}"
    return InputClash(clause, parameter.name, beside, codes.WRONG_ARGUMENT_SHAPE, meant)


# ---- elements

SYNONYMS = {
    "fp64": "fp32",
    "double": "fp32",
    "float64": "fp32",
    "int64": "int32",
    "long": "int32",
    "backward": "reverse",
}
"""Words of other frameworks, and their nearest equivalents in MIL."""


def _meant(word: str, words: Collection[str]) -> str | None:
    """Return the intended word for an unknown one: a synonym, or a word with the same beginning and one slip.

    `unnormalized` is not a slip of `normalized`, nor `relu` of `gelu`.
    """
    named = SYNONYMS.get(word.lower()) or ELSEWHERE.get(word.lower())
    alike = [known for known in words if known[:1].lower() == word[:1].lower()]
    return named if named in words else nearest(word, alike, likeness=0.6)


class _Elements:
    """The elements of an argument, compared with the limits of its parameter."""

    def __init__(self, parameter: Parameter, operand: Operand, sizes: NamedSizes, dialect: str) -> None:
        self.parameter = parameter
        self.sizes = sizes
        self.dialect = dialect
        self.is_scalar = not isinstance(operand.value, tuple)
        self.row: Row = operand.value if isinstance(operand.value, tuple) else (operand.value,)

    def clash(self) -> InputClash | None:
        """Return the first clash of an element."""
        if self.parameter.words:
            return next((self.word(element) for element in self.row if self.is_strange(element)), None)
        numbers = [element for element in self.row if isinstance(element, int | float)]
        axes = self.parameter.axes
        found = self.axis([number for number in numbers if isinstance(number, int)], axes) if axes else None
        return found or self.outside(numbers)

    def is_strange(self, element: object) -> bool:
        """Return whether an element is a string outside of the words."""
        return isinstance(element, str) and self.cased(element) not in self.parameter.words

    def cased(self, element: str) -> str:
        return element.lower() if self.parameter.any_case else element

    def word(self, element: object) -> InputClash:
        near = _meant(self.cased(str(element)), self.parameter.words)
        clause = f"takes {listed(self.parameter.words)}, not {json.dumps(element)}{did_you_mean(near)}"
        string = spelled(TensorType("string", ()), self.dialect)
        meant = f"{string}({json.dumps(near)})" if near and self.is_scalar else None
        return InputClash(clause, self.parameter.name, code=codes.UNKNOWN_WORD, suggestion=meant)

    def axis(self, axes: Sequence[int], counted: Term) -> InputClash | None:
        """Require existing axes, each at most once."""
        rank = counted.value(self.sizes)
        if rank is None:
            return None
        try:
            least = max(-rank, self.limit(self.parameter.least) or -rank)
            hold_axes(axes, rank, self.parameter.name, *self.sizes.parameters_of([counted]), least=least)
        except InputConflict as wrong:
            return wrong.clash
        return None

    def outside(self, numbers: Iterable[float]) -> InputClash | None:
        """Require numbers within their range."""
        least, most = (self.limit(term) for term in (self.parameter.least, self.parameter.most))
        for number in numbers:
            if (least is not None and number < least) or (most is not None and number > most):
                clause = f"takes {_range(least, most)}, not {number}"
                beside = self.sizes.parameters_of(filter(None, (self.parameter.least, self.parameter.most)))
                return InputClash(clause, self.parameter.name, beside, codes.VALUE_OUT_OF_RANGE)
        return None

    def limit(self, term: Term | None) -> Dimension:
        return None if term is None else term.value(self.sizes)


def _range(least: Dimension, most: Dimension) -> str:
    if most is None or least is None:
        return f"numbers from {least} on" if most is None else f"numbers up to {most}"
    return f"numbers from {least} to {most}" if least < most else f"only {most}"
