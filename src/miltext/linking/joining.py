"""One function of the functions of several graphs: their operations in one block, with their values bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION
from miltext.drafting.moving import Moving
from miltext.ir.casts import cast_ops
from miltext.ir.graph import Graph
from miltext.ir.needs import sort
from miltext.ir.parts import Op
from miltext.ir.passes import remove_dead
from miltext.linking.parts import UNNAMED, End
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.printing.renaming import rename
from miltext.schema.types import TensorType
from miltext.schema.value_builders import STRING, immediate
from miltext.syntax.names import fitting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Value
    from miltext.linking.bindings import Bindings
    from miltext.linking.parts import LinkedPart
    from miltext.schema.proto import Program


class Renamed(NamedTuple):
    """A value whose name another model has: its model, and its names in this one and in the whole.

    An inner value is none of the inputs, states and outputs of the whole.
    """

    part: str
    old: str
    new: str
    is_inner: bool


class Joined(NamedTuple):
    """The Program of several models, and the new names of their ends: inputs and states, and then outputs.

    `constants` is the number of constants that an earlier model has, too, and that are in the whole once.
    """

    program: Program
    taken: dict[End, str]
    given: dict[End, str]
    renamed: list[Renamed]
    constants: int


def join(made: Bindings, outputs: Sequence[End], casts: Collection[End], opset: str, *, prune: bool) -> Joined:
    """Return the Program whose function computes the outputs of several models, with their values bound.

    The inputs in `casts` get a cast. `prune` removes operations without use.
    """
    joining = _Joining(made, opset)
    for part in made.parts:
        joining.add(part, casts)
    return joining.finished(outputs, prune=prune)


class _Joining:
    """The function that grows, model by model; `given` are the values of outputs, `taken` the values of inputs."""

    def __init__(self, made: Bindings, opset: str) -> None:
        self._made = made
        self._graph = Graph.alone(DEFAULT_FUNCTION, opset)
        self._function = self._graph.functions[DEFAULT_FUNCTION]
        self._parts = [part.graph() for part in made.parts]
        self._values = {
            End(place, side, value.name): value
            for place, function in enumerate(self._parts)
            for side, values in (("", function.inputs), ("output", _block(function).outputs))
            for value in values
        }
        self._moving = Moving(self._function)
        self._casts: dict[tuple[Value, str], Value] = {}

    # ---- models

    def add(self, part: LinkedPart, casts: Collection[End]) -> None:
        """Move the operations of a model to the whole, and bind its inputs."""
        function = self._parts[part.place]
        block = _block(function)
        given = {*block.outputs}
        ops = self._moving.take(function, block, part.name)
        for end in part.ends("input", "state"):
            if end in self._made.sources:
                self._bind(end, is_cast=end in casts)
        self._moving.put(_block(self._function), None, ops, given)
        self._take_attributes(part, function, block)

    def _bind(self, end: End, *, is_cast: bool) -> None:
        source = self._value(self._made.sources[end])
        if is_cast:
            source = self._cast(source, self._made.type(end))
        self._values[_input(end)].replace_uses(source)

    def _value(self, end: End) -> Value:
        """Return the value of the whole that an end means; for an output, it may be an input."""
        value = self._values[end if end.side == "output" else _input(end)]
        own = End(end.part, "", value.name)
        if value.owner is not self._parts[end.part] or self._values.get(own) is not value:
            return value
        for side in ("input", "state"):
            source = self._made.sources.get(End(end.part, side, value.name))
            if source is not None:
                return self._value(source)
        return value

    def _cast(self, value: Value, type: object) -> Value:
        """Return a value as another data type, which is computed once."""
        assert isinstance(type, TensorType)
        if (value, type.dtype) not in self._casts:
            name = f"{value.name}_to_{type.dtype}"
            made = cast_ops(value, name, type, f"{name}_dtype_0")
            _block(self._function).append(*made)
            self._moving.names += [(each, each.name, "") for op in made for each in op.outputs]
            self._casts[value, type.dtype] = made[-1].outputs[0]
        return self._casts[value, type.dtype]

    def _take_attributes(self, part: LinkedPart, function: Function, block: Block) -> None:
        """Take the attributes that no earlier model has; the sizes that Apple's compiler notes are made anew."""
        for key, value in part.built.spec.mlProgram.attributes.items():
            if key not in self._graph.message.attributes:
                self._graph.message.attributes[key].CopyFrom(value)
        self._graph.message.version = max(self._graph.message.version, part.built.spec.mlProgram.version)
        self._graph.message.docString = self._graph.message.docString or part.built.spec.mlProgram.docString
        for whole, own in ((self._function, function), (_block(self._function), block)):
            for key, value in own.attributes.items():
                if key not in whole.attributes and key != ATTRIBUTE:
                    whole.set_attribute(key, value)

    # ---- the whole

    def finished(self, outputs: Iterable[End], *, prune: bool) -> Joined:
        """Return the whole with these outputs."""
        taken = {end: self._values[_input(end)] for part in self._made.parts for end in self._unbound(part)}
        self._function.inputs = [*taken.values()]
        for value in taken.values():
            value.owner = self._function
        given = {end: self._output(end) for end in outputs}
        block = _block(self._function)
        block.outputs = [*given.values()]
        if self._made.is_backward:
            sort(block)
        if prune:
            taken = self._pruned(taken)
        alive = {*self._function.defined()}
        self._moving.names = [each for each in self._moving.names if each[0] in alive]
        self._part_outer([*taken.items(), *given.items()])
        outer = {*taken.values(), *given.values()}
        self._moving.part_names(outer)
        return Joined(
            self._graph.program(),
            {end: value.name for end, value in taken.items()},
            {end: value.name for end, value in given.items()},
            [
                Renamed(part, old, new, value not in outer)
                for value, old, part in self._moving.names
                if part and (new := value.name) != old
            ],
            self._moving.shared,
        )

    def _pruned(self, taken: Mapping[End, Value]) -> dict[End, Value]:
        """Remove unused operations, and inputs that only they used; return the inputs that stay."""
        unused = {value for value in taken.values() if not value.uses}
        remove_dead(self._graph)
        kept = {end: value for end, value in taken.items() if value.uses or value in unused}
        self._function.inputs = [*kept.values()]
        return kept

    def _unbound(self, part: LinkedPart) -> Iterator[End]:
        """Yield the inputs and states of a model that stay, in the order of its function."""
        ends = {end.name: end for end in part.ends("input", "state")}
        return (end for name in part.message_names() if (end := ends[name]) not in self._made.sources)

    def _output(self, end: End) -> Value:
        """Return the value of an output; for a bound input, which has another name in the whole, a copy."""
        value = self._value(end)
        if value is self._values[end]:
            return value
        made = Op.new("identity", {"x": value}, {end.name: value.type}, {"name": immediate(STRING, end.name)})
        _block(self._function).append(made)
        return made.outputs[0]

    # ---- names

    def _part_outer(self, ends: Iterable[tuple[End, Value]]) -> None:
        """Give an input or output whose name an earlier one has the name of its model before its own."""
        known: dict[str, Value] = {}
        for end, value in ends:
            if known.setdefault(value.name, value) is not value:
                part = self._made.parts[end.part]
                rename(value, self._function.fresh(f"{fitting(part.name) or f'{UNNAMED}_{end.part}'}_{value.name}"))
                known[value.name] = value


def _input(end: End) -> End:
    """Return the end under which the value of an input or a state is known."""
    return End(end.part, "", end.name)


def _block(function: Function) -> Block:
    block = function.block
    assert block is not None  # or the model would have been refused
    return block
