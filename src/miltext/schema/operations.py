"""Inputs and outputs of each op, by opset: the table that checking, completion and editors look up.

The facts are coremltools 9.0's, for Programs as it saves them; `scripts/make_ops.py` makes `ops.json`
out of its registry. Opsets are text spellings (`ios17`); a proto spelling (`CoreML7`) is taken as well.
Every op may carry the attribute `name`, and a runtime adds others: an attribute that no signature
lists is not a fault.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.schema.opsets import OPSET_BY_NAME, OPSETS
from miltext.schema.shape_patterns import Patterns, Term, read_patterns, read_term

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record

_PLACES = {name: OPSETS.index(opset) for name, opset in OPSET_BY_NAME.items()}


class Parameter(NamedTuple):
    """One parameter of an op.

    `constant`: every value on which it depends has to be known when the program is compiled. `dtypes` are the data
    types that it takes, empty for any; parameters of one `domain` share a data type. `default` is its value when it is
    left out, None where that depends on the op's other inputs or leaving it out has a meaning of its own. `variadic`:
    it takes any number of bindings. `kinds` are the kinds of values that it takes
    (`tensor list state tuple dictionary`). `attribute`: coremltools keeps it among the op's attributes, not its inputs;
    other writers do not, so look in both. `asked` is the text to write in place of an optional parameter that loaders
    of Core ML require all the same. `loose`: coremltools refuses a value outside its domain, and other loaders of Core
    ML may not.

    `shape` are the patterns of its shape (`miltext.schema.shape_patterns`), empty for any. Its elements are from
    `least` to `most`, numbers or sizes of those patterns, or some of the `words`, in capitals too if `any_case` is
    taken; `axes` is the size that counts the axes of which they name some, each once.
    """

    name: str
    required: bool
    dtypes: frozenset[str]
    kinds: frozenset[str]
    constant: bool = False
    domain: str | None = None
    default: bool | int | float | str | None = None
    variadic: bool = False
    attribute: bool = False
    asked: float | str | None = None
    loose: bool = False
    shape: Patterns = ()
    least: Term | None = None
    most: Term | None = None
    words: tuple[str, ...] = ()
    any_case: bool = False
    axes: Term | None = None

    @property
    def limited(self) -> bool:
        """Whether it refuses some elements of its data types."""
        return bool(self.words or self.least or self.most or self.axes)

    def __str__(self) -> str:
        typed = " | ".join(sorted(self.dtypes) or sorted(self.kinds))
        default = "" if self.default is None else f" = {json.dumps(self.default)}"
        name = self.name if self.required else f"{self.name}?"
        return f"{name}: {'const ' * self.constant}{typed}{'...' * self.variadic}{default}"


class BlockSignature(NamedTuple):
    """One nested block: its purpose, and the parameter whose values its inputs stand for, if it has inputs."""

    name: str
    inputs: str | None


class Signature(NamedTuple):
    """An op in the version of an opset.

    `opset` is the opset that brought this version. `outputs` are the least and the most of them, None for no limit.
    `open`: it takes unlisted inputs.
    """

    name: str
    opset: str
    parameters: Mapping[str, Parameter]
    outputs: tuple[int, int | None]
    blocks: tuple[BlockSignature, ...]
    open: bool

    @property
    def positions(self) -> list[str]:
        """The parameters in the order of arguments without names: required ones first."""
        return sorted(self.parameters, key=lambda name: not self.parameters[name].required)

    def dtypes(self, parameter: str) -> frozenset[str]:
        """Return the data types that a parameter takes; none for an unknown parameter."""
        return self.parameters[parameter].dtypes if parameter in self.parameters else frozenset()

    def __str__(self) -> str:
        listed = ", ".join([str(parameter) for parameter in self.parameters.values()] + ["..."] * self.open)
        return f"{self.name}<{self.opset}>({listed})"


def signature(op_type: str, opset: str | None = None) -> Signature | None:
    """Return the newest version of an op that `opset` has; None when it has none, or nothing is known of the op.

    The opset is by any of its names; none, or an unknown one, stands for the newest.
    """
    return _signature(op_type, opset_place(opset))


def opset_place(opset: str | None) -> int:
    """Return the place of an opset, by any of its names, among all; none, or an unknown one, is the newest."""
    return _PLACES.get(opset or "", len(OPSETS) - 1)


def all_names() -> list[str]:
    """Return the names of all known ops, sorted."""
    return list(_table())


def first_opset(op_type: str, has: Callable[[Signature], bool] = bool) -> str | None:
    """Return the opset (text spelling) that brought an op or, of its versions, the first that satisfies `has`.

    None when nothing is known of the op, or no version fits.
    """
    return next((version.opset for version in versions(op_type) if has(version)), None)


def since(dtype: str) -> str:
    """Return the first opset (text spelling) with an operation that takes a data type; an empty text if none does."""
    return _first_taking().get(dtype, "")


@functools.cache
def _first_taking() -> dict[str, str]:
    """Return the first opset by each data type that an operation takes; no signature has to be read for that."""
    found: dict[str, str] = {}
    for version in sorted(chain.from_iterable(_table().values()), key=lambda version: _PLACES[version["opset"]]):
        for facts in version["parameters"].values():
            for dtype in facts.get("dtypes", "").split():
                found.setdefault(dtype, version["opset"])
    return found


def versions(op_type: str, opset: str | None = None) -> list[Signature]:
    """Return the versions of an op up to the version of an opset, oldest first."""
    places = [_PLACES[version["opset"]] for version in _table().get(op_type, ())]
    found = [_signature(op_type, place) for place in places if place <= opset_place(opset)]
    return [version for version in found if version]


@functools.cache
def single_parameters() -> frozenset[str]:
    """Return the names of the parameters, of any operation, that take one value and not several."""
    known = [parameter for name in all_names() for parameter in versions(name)[-1].parameters.values()]
    return frozenset(parameter.name for parameter in known if not parameter.variadic)


@functools.cache
def words_of(parameter: str) -> frozenset[str]:
    """Return the words that parameters of a name take in any operation."""
    known = (versions(name)[-1].parameters.get(parameter) for name in all_names())
    return frozenset(word for found in known if found for word in found.words)


@functools.cache
def _table() -> dict[str, list[Record]]:
    with open(os.path.join(os.path.dirname(__file__), "ops.json"), encoding="utf-8") as file:
        table: dict[str, list[Record]] = json.load(file)
    return table


@functools.cache
def _signature(op_type: str, place: int) -> Signature | None:
    for version in reversed(_table().get(op_type, ())):
        if _PLACES[version["opset"]] <= place:
            return _read(op_type, version)
    return None


def _read(op_type: str, version: Record) -> Signature:
    least, most = version.get("outputs", (1, 1))
    parameters = {name: _parameter(name, **facts) for name, facts in version["parameters"].items()}
    return Signature(
        op_type,
        version["opset"],
        parameters,
        (least, most),
        tuple(BlockSignature(name, inputs) for name, inputs in version.get("blocks", ())),
        version.get("open", False),
    )


def _parameter(
    name: str,
    optional: bool = False,
    dtypes: str = "",
    kinds: str = "tensor",
    shape: str = "",
    words: str = "",
    **facts: Any,
) -> Parameter:
    facts |= {limit: read_term(facts[limit]) for limit in ("least", "most", "axes") if limit in facts}
    facts |= {"shape": read_patterns(shape) if shape else (), "words": tuple(words.split())}
    return Parameter(name, not optional, frozenset(dtypes.split()), frozenset(kinds.split()), **facts)
