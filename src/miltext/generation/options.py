"""The requested properties of generated programs, and errors for impossible ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError, Note, codes, error
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.schema.dtypes import BY_NAME
from miltext.schema.operations import all_names, signature
from miltext.schema.opsets import OPSETS, PROTO_BY_TEXT
from miltext.schema.types import ListType, TensorType, Type
from miltext.schema.walk import is_compressed

if TYPE_CHECKING:
    from miltext.schema.operations import Signature

WAY = "`miltext ops` lists operations with their opsets and data types"


NOT_GENERATED = frozenset(["custom_layer"])
"""The operations without known results: a class of an app computes the output of `custom_layer`."""

CONTROL = frozenset(["cond", "while_loop"])
STATES = frozenset(["read_state", "write_state"])
COMPRESSED = frozenset(filter(is_compressed, all_names()))
KINDS = {"control_flow": CONTROL, "states": STATES, "compressed": COMPRESSED}
"""The options that exclude operations, with these operations."""

COMMON = ("fp32", "fp16", "int32", "bool")
"""Data types where any is allowed, in the order of their simplicity."""

NOT_COMPUTED = frozenset(["string", "uint1", "uint2", "uint3", "uint6", "uint32", "int64"])
"""Data types only of constants that control the computation or are decompressed."""

MOST_WEIGHTS = 1 << 22
"""The most elements of a requested weight: each is made by itself, and larger ones take minutes."""

OPSET_NAMES = tuple(opset.text for opset in OPSETS)


@dataclass(frozen=True)
class Options:
    """The requested properties of generated programs.

    One of the `opsets` is picked; `operations` and `dtypes` are the allowed ones, None for any. Casts convert other
    inputs to these data types, and constants for shapes, axes and the like have their own. `ops` are the least and the
    most operations, besides constants and casts; `inputs` and `outputs` the most of each, `functions` the most
    functions. `control_flow`, `states` and `compressed` allow these, and `classifiers` allows programs that end in
    labels, which coremltools' own loader does not read. `flexible` allows inputs of unknown sizes, and `weights` is the
    least number of elements in the weights of convolutions and of `linear`: each is then a `const` of its own, which
    `miltext.build` moves into a weight file with `externalize=10`.
    """

    opsets: Sequence[str] = OPSET_NAMES
    operations: Collection[str] | None = None
    dtypes: Collection[str] | None = None
    ops: tuple[int, int] = (1, 10)
    inputs: int = 3
    outputs: int | None = None
    functions: int = 1
    control_flow: bool = True
    states: bool = True
    compressed: bool = True
    classifiers: bool = False
    flexible: bool = False
    weights: int = 0

    def __post_init__(self) -> None:
        for name in ("opsets", "operations", "dtypes"):
            if isinstance(getattr(self, name), str):
                raise refusal(f"`{name}` must be a list of names, not a string", f"write {name}=[...]")
        _hold_names("opset", self.opsets, PROTO_BY_TEXT)
        _hold_names("operation", self.operations, all_names())
        _hold_names("data type", self.dtypes, BY_NAME)
        least, most = self.ops
        if not 1 <= least <= most:
            raise refusal(f"a program has from 1 operation on, and not {least} to {most}", "request 1 or more")
        for name, least in (("inputs", 0), ("outputs", 1), ("functions", 1), ("weights", 0)):
            requested = getattr(self, name)
            if requested is not None and requested < least:
                raise refusal(f"`{name}` is {requested}, and cannot be less than {least}", f"request {least} or more")
        if self.weights > MOST_WEIGHTS:
            raise refusal(f"`weights` is {self.weights}, and cannot be more than {MOST_WEIGHTS}", "request fewer")
        if self.operations is not None:
            self._hold_operations(self.operations)
        if not self.opsets_that_fit():
            none = "none of these operations" if self.operations else "no operation"
            names = " or ".join(f"`{name}`" for name in self.dtypes or ())
            raise refusal(f"{none} computes with {names} in {' or '.join(self.opsets)}", WAY)

    def _hold_operations(self, operations: Collection[str]) -> None:
        """Require operations that a requested opset contains."""
        for name in sorted(NOT_GENERATED & {*operations}):
            raise refusal(
                f"`{name}` is not generated: a class of an app computes its result", "choose other operations"
            )
        for kind, names in KINDS.items():
            for name in sorted(names & {*operations}) if not getattr(self, kind) else ():
                raise refusal(f"`{name}` is requested, but `{kind}` is false", "leave out one of them")
        for name in sorted(operations):
            if not any(signature(name, opset) for opset in self.opsets):
                have = "does not have" if len(self.opsets) == 1 else "do not have"
                raise refusal(f"{' and '.join(self.opsets)} {have} `{name}`", "choose a later opset")

    def allows(self, op_type: str) -> bool:
        """Return whether an operation may be used."""
        if any(op_type in names and not getattr(self, kind) for kind, names in KINDS.items()):
            return False
        return op_type not in NOT_GENERATED if self.operations is None else op_type in self.operations

    def fits(self, known: Signature) -> bool:
        """Return whether an operation takes one of the requested data types, anywhere."""
        tensors = _tensors(known)
        if self.dtypes is None or not tensors:
            return True
        return any(dtype in taken for taken in tensors for dtype in self._computed())

    def _computed(self) -> list[str]:
        """Return the requested data types that values may be computed with."""
        return [dtype for dtype in self.dtypes or () if dtype not in NOT_COMPUTED]

    def _serves(self, known: Signature) -> bool:
        """Return whether an operation can be used in an opset by itself.

        Unless it was requested, its first tensor, whose type most outputs have, must be of a requested data type, and
        not only an index or a size.
        """
        if self.operations is not None:
            return self.fits(known)
        return any(dtype in first for first in _tensors(known)[:1] for dtype in self._computed())

    def opsets_that_fit(self) -> list[str]:
        """Return the opsets that have an operation for the requested data types."""
        if self.dtypes is None:
            return list(self.opsets)
        names = [name for name in all_names() if self.allows(name)]
        having = [(opset, signature(name, opset)) for opset in self.opsets for name in names]
        fitting = {opset for opset, known in having if known is not None and self._serves(known)}
        return [opset for opset in self.opsets if opset in fitting]

    def allows_dtype(self, dtype: str) -> bool:
        """Return whether tensors may be of a data type."""
        return self.dtypes is None or dtype in self.dtypes

    def allows_type(self, type: Type) -> bool:
        """Return whether values may be of a type."""
        if isinstance(type, ListType):
            return self.allows_type(type.element)
        return not isinstance(type, TensorType) or type.dtype == "string" or self.allows_dtype(type.dtype)


def _tensors(known: Signature) -> list[Collection[str]]:
    """Return the data types of each parameter of an operation that takes tensors."""
    return [each.dtypes or COMMON for each in known.parameters.values() if "tensor" in each.kinds]


def refusal(message: str, way: str) -> MiltextError:
    """Return the error for a request that cannot be generated."""
    return MiltextError([error(codes.NOTHING_TO_GENERATE, message, None, Note(way))])


def _hold_names(noun: str, names: Collection[str] | None, known: Collection[str]) -> None:
    """Require existing names, at least one."""
    if names is not None and not names:
        raise refusal(f"the list of allowed {noun}s is empty, but a program needs one", f"request one {noun} or more")
    for name in names or ():
        if name not in known:
            message = f"there is no {noun} `{name}`{did_you_mean(nearest(name, known))}"
            raise refusal(message, WAY)
