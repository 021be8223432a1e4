"""The table of the inputs and outputs of each op, by opset, for checks, completion and editors.

The facts are coremltools 9.0's, for Programs as it saves them; `scripts/make_ops.py` makes `ops.json` out of its
registry. Opsets are text spellings (`ios17`); a proto spelling (`CoreML7`) is accepted as well. Each op may have the
attribute `name`, and runtimes add others: an attribute outside of a signature is not an error.
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

RECAST = ("reshape", "expand_dims", "squeeze", "flatten2d")
"""Operations that change the dimensions of elements, but keep their order."""

_PLACES = {name: OPSETS.index(opset) for name, opset in OPSET_BY_NAME.items()}


class Parameter(NamedTuple):
    """One parameter of an op.

    `constant` is true for a compile-time constant. `dtypes` are the accepted data types, empty for any; parameters of
    one `domain` share a data type. `default` is its value when it is left out, None where that depends on the op's
    other inputs or leaving it out has a meaning of its own. `variadic` parameters accept any number of bindings.
    `kinds` are the accepted kinds of values (`tensor list state tuple dictionary`). `attribute`: coremltools keeps it
    among the op's attributes, not its inputs; other writers do not, so look in both. `asked` is the value of an
    optional parameter that some loaders of Core ML require. `loose`: coremltools refuses a value outside its domain,
    and other loaders of Core ML may not.

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
        """Whether some elements of its data types are refused."""
        return bool(self.words or self.least or self.most or self.axes)

    def __str__(self) -> str:
        typed = " | ".join(sorted(self.dtypes) or sorted(self.kinds))
        default = "" if self.default is None else f" = {json.dumps(self.default)}"
        name = self.name if self.required else f"{self.name}?"
        return f"{name}: {'const ' * self.constant}{typed}{'...' * self.variadic}{default}"


class BlockSignature(NamedTuple):
    """A nested block: its purpose, and the parameter of its inputs, if it has any."""

    name: str
    inputs: str | None


class Signature(NamedTuple):
    """An op in the version of an opset.

    `opset` is the first opset with this version. `outputs` are the least and the greatest number of outputs, None for
    no limit. `open` ops accept unlisted inputs.
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
        """Return the data types of a parameter; none for an unknown parameter."""
        return self.parameters[parameter].dtypes if parameter in self.parameters else frozenset()

    def __str__(self) -> str:
        listed = ", ".join([str(parameter) for parameter in self.parameters.values()] + ["..."] * self.open)
        return f"{self.name}<{self.opset}>({listed})"


def signature(op_type: str, opset: str | None = None) -> Signature | None:
    """Return the newest version of an op in `opset`; None if it has none, or for an unknown op.

    The opset is given by any of its names; none, or an unknown one, means the newest.
    """
    return _signature(op_type, opset_place(opset))


def opset_place(opset: str | None) -> int:
    """Return the place of an opset, by any of its names, among all; none, or an unknown one, is the newest."""
    return _PLACES.get(opset or "", len(OPSETS) - 1)


def all_names() -> list[str]:
    """Return the names of all known ops, sorted."""
    return list(_table())


def first_opset(op_type: str, has: Callable[[Signature], bool] = bool) -> str | None:
    """Return the first opset (text spelling) with an op, or with a version of it that satisfies `has`.

    None for an unknown op, or without such a version.
    """
    return next((version.opset for version in versions(op_type) if has(version)), None)


def since(dtype: str) -> str:
    """Return the first opset (text spelling) with an operation for a data type; an empty text if there is none."""
    return _first_taking().get(dtype, "")


@functools.cache
def _first_taking() -> dict[str, str]:
    """Return the first opset for each data type of operations, without reading signatures."""
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
    """Return the names of the parameters of all operations that accept only a single value."""
    known = [parameter for name in all_names() for parameter in versions(name)[-1].parameters.values()]
    return frozenset(parameter.name for parameter in known if not parameter.variadic)


@functools.cache
def words_of(parameter: str) -> frozenset[str]:
    """Return the words that parameters with a name accept in any operation."""
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
