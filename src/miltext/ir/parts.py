"""The operations of a graph, the values that they define, and the uses of these.

A name is an attribute of a Value, so a renaming is one assignment, and the value of a use never depends on names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.diagnostics.wording import tally
from miltext.schema import proto
from miltext.schema.types import Type, read_type, write_type
from miltext.schema.walk import is_constant

if TYPE_CHECKING:
    from miltext.ir.functions import Block, Function


class GraphError(ValueError):
    """An invalid edit, such as the removal of a used value."""


class Use(NamedTuple):
    """A use of a value: the argument of a parameter at an index, or the output of a block at an index."""

    user: Op | Block
    parameter: str
    place: int

    @property
    def op(self) -> Op | None:
        """The operation that uses the value, or None for an output of a block."""
        return self.user if isinstance(self.user, Op) else None

    @property
    def binding(self) -> proto.Argument.Binding:
        """The original message of the argument."""
        assert isinstance(self.user, Op)
        return self.user.message.inputs[self.parameter].arguments[self.place]

    @property
    def operand(self) -> Operand:
        """The present value or literal."""
        user = self.user
        return user.inputs[self.parameter][self.place] if isinstance(user, Op) else user.outputs[self.place]


class Value:
    """A value: an output of an operation, an input of a block or of a function, or an undefined name.

    `owner` defines the value; an undefined name has none. `message` declares the original name and the type. The uses
    of an `unread` function's values are read on the first request.
    """

    __slots__ = ("_name", "_uses", "message", "owner")

    def __init__(
        self,
        name: str,
        message: proto.NamedValueType | None,
        owner: Op | Block | Function | None,
        unread: Function | None = None,
    ) -> None:
        self._name = name
        self.message = message
        self.owner = owner
        self._uses: dict[Use, None] | Function = {} if unread is None else unread

    def __repr__(self) -> str:
        return f"<Value {self._name}>"

    @property
    def name(self) -> str:
        """The name, which the writer changes only if it would hide another value."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        if name != self._name:
            self._name = name
            self._touch()
            if self.owner is not None:
                self.owner.take((name,))
            for use in self.uses:
                use.user.touch()

    @property
    def uses(self) -> dict[Use, None]:
        """The uses, in the order of reading and of edits."""
        if not isinstance(self._uses, dict):
            self._uses.read_uses()
        if not isinstance(self._uses, dict):
            self._uses = {}  # nothing uses it
        return self._uses

    @uses.setter
    def uses(self, uses: dict[Use, None]) -> None:
        self._uses = uses

    @property
    def type(self) -> Type:
        """The declared type; None for an undefined name, and for an incomplete type."""
        return None if self.message is None else read_type(self.message.type)

    @type.setter
    def type(self, stated: Type) -> None:
        declared = proto.NamedValueType()
        if self.message is not None:
            declared.MergeFromString(self.message.SerializeToString())
        declared.type.CopyFrom(write_type(stated))
        self.declare(declared)

    @property
    def maker(self) -> Op | None:
        """The operation that defines the value; None for an input and for an undefined name."""
        return self.owner if isinstance(self.owner, Op) else None

    @property
    def home(self) -> Block | Function | None:
        """The block or function in which the value is defined; None for an undefined name."""
        return self.owner.block if isinstance(self.owner, Op) else self.owner

    @property
    def is_state(self) -> bool:
        """Whether the value is declared as a state."""
        return self.message is not None and self.message.type.WhichOneof("type") == "stateType"

    @property
    def is_constant(self) -> bool:
        """Whether the value is the output of a `const` or of a compressed constant."""
        return self.maker is not None and self.maker.is_constant

    @property
    def users(self) -> list[Op]:
        """The operations with the value as an argument, each once."""
        return list(dict.fromkeys(use.user for use in self.uses if isinstance(use.user, Op)))

    def replace_uses(self, new: Value | proto.Value, uses: Iterable[Use] | None = None) -> None:
        """Replace the value by another value or a literal, in all of its uses or in the given ones.

        Raise GraphError for a literal as a block's output.
        """
        if new is self:
            return
        for use in list(self.uses) if uses is None else uses:
            use.user.put(use, new)
            del self.uses[use]

    def declare(self, message: proto.NamedValueType) -> None:
        """Set the declared type to exactly a message's type, whatever it contains; the name stays."""
        self.message = message
        self._touch()

    def _touch(self) -> None:
        if self.owner is not None:
            self.owner.touch()


Operand: TypeAlias = "Value | proto.Value | None"
"""An argument: a value of the graph, a literal, or nothing."""


class Op:
    """An operation.

    `message` contains its type and attributes; arguments, outputs and blocks are in the graph. `block` is the enclosing
    block, None for a removed or not yet inserted operation. `is_own` is true if `message` belongs to the graph and may
    be edited, `has_other_blocks` if inner blocks were inserted or removed.
    """

    __slots__ = (
        "_type", "block", "blocks", "has_other_blocks", "inputs", "is_edited", "is_own", "message", "next", "outputs",
        "previous",
    )  # fmt: skip

    def __init__(self, message: proto.Operation) -> None:
        self.message = message
        self._type = message.type
        self.inputs: dict[str, list[Operand]] = {}
        self.outputs: list[Value] = []
        self.blocks: list[Block] = []
        self.block: Block | None = None
        self.previous: Op | None = None
        self.next: Op | None = None
        self.is_edited = False
        self.is_own = False
        self.has_other_blocks = False

    @classmethod
    def new(
        cls,
        type: str,
        inputs: Mapping[str, Operand | Sequence[Operand]],
        outputs: Mapping[str, Type],
        attributes: Mapping[str, proto.Value] | None = None,
    ) -> Op:
        """Return an operation to be inserted; `outputs` are types by name."""
        op = cls(proto.Operation(type=type))
        op.is_own = op.is_edited = True
        for key, value in (attributes or {}).items():
            op.message.attributes[key].CopyFrom(value)
        for parameter, operands in inputs.items():
            op.set_input(parameter, operands)
        for name, stated in outputs.items():
            declared = proto.NamedValueType(name=name, type=write_type(stated))
            op.outputs.append(Value(name, declared, op))
        return op

    def copy(self, find: Callable[[Value], Operand] = lambda value: value) -> Op:
        """Return an operation like this one, to be inserted, without blocks; its outputs have the same names.

        `find` returns the operand for each value among the arguments.
        """
        made = Op(self.message)
        made.own()
        for parameter, operands in self.inputs.items():
            made.set_input(parameter, [find(each) if isinstance(each, Value) else each for each in operands])
        made.outputs = [Value(value.name, value.message, made) for value in self.outputs]
        return made

    def __repr__(self) -> str:
        return f"<Op {', '.join(value.name for value in self.outputs)} = {self.type}>"

    @property
    def type(self) -> str:
        """The type of the operation: `conv`."""
        return self.message.type if self.is_own else self._type

    @property
    def attributes(self) -> Mapping[str, proto.Value]:
        """The attributes, read-only; `own` returns the message in which they can be edited."""
        return self.message.attributes

    @property
    def is_constant(self) -> bool:
        """Whether the operation is a `const` or a compressed constant."""
        return is_constant(self.type)

    @property
    def is_used(self) -> bool:
        """Whether anything uses an output."""
        return any(value.uses for value in self.outputs)

    @property
    def users(self) -> list[Op]:
        """The operations with an output as an argument, each once for an output."""
        return [user for value in self.outputs for user in value.users]

    @property
    def operands(self) -> list[Value]:
        """The values among the arguments, in the order of the parameters, without literals."""
        return [value for parameter in self.inputs for value in self.values(parameter)]

    def values(self, parameter: str) -> list[Value]:
        """Return the values among the arguments of a parameter, without literals."""
        return [each for each in self.inputs.get(parameter, ()) if isinstance(each, Value)]

    def used(self) -> list[Value]:
        """Return the values that the operation needs, each once: its operands, and values that its blocks capture."""
        return list(dict.fromkeys([*self.operands, *(self.captured() if self.blocks else ())]))

    def operand(self, parameter: str) -> Operand:
        """Return the only argument of a parameter; None if the parameter has none or several."""
        operands = self.inputs.get(parameter, ())
        return operands[0] if len(operands) == 1 else None

    def literals(self) -> dict[str, proto.Value]:
        """Return the literals given as the only argument of a parameter, by parameter."""
        single = ((parameter, self.operand(parameter)) for parameter in self.inputs)
        return {parameter: each for parameter, each in single if each is not None and not isinstance(each, Value)}

    def literal(self, name: str) -> proto.Value | None:
        """Return the constant written at the operation: the only argument of a parameter, or an attribute."""
        operand = self.operand(name) if name in self.inputs else self.attributes.get(name)
        return None if isinstance(operand, Value) else operand

    def own_literal(self, name: str, place: int = 0) -> proto.Value:
        """Return the operation's own constant for edits: a literal argument, or an attribute."""
        if name not in self.inputs:
            return self.own().attributes[name]
        literal = self.inputs[name][place]
        assert literal is not None, f"`{name}` is bound to nothing"
        assert not isinstance(literal, Value), f"`{name}` is bound to a value"
        made = literal.__class__()
        made.CopyFrom(literal)
        self.inputs[name][place] = made
        self.touch()
        return made

    def own(self) -> proto.Operation:
        """Return the operation's own message, in which its type, attributes and docString may be edited."""
        if not self.is_own:
            message = self.message.__class__()
            message.CopyFrom(self.message)
            self.message = message
            self.is_own = True
        self.touch()
        return self.message

    def set_input(self, parameter: str, operands: Operand | Sequence[Operand]) -> None:
        """Set the arguments of a parameter: one, or a sequence of them. Raise GraphError for a name."""
        if isinstance(operands, str):
            raise GraphError(f"an argument is a value or a literal: `value` of a function finds the value `{operands}`")
        self.touch()
        self._drop(parameter)
        several = list(operands) if isinstance(operands, Sequence) else [operands]
        self.inputs[parameter] = several
        for index, operand in enumerate(several):
            if isinstance(operand, Value):
                operand.uses[Use(self, parameter, index)] = None

    def remove_input(self, parameter: str) -> None:
        """Remove the arguments of a parameter."""
        self.touch()
        self._drop(parameter)
        self.inputs.pop(parameter, None)

    def put(self, use: Use, new: Value | proto.Value) -> None:
        """Replace an argument by another value or a literal; `Value.replace_uses` calls this."""
        self.touch()
        self.inputs[use.parameter][use.place] = new
        if isinstance(new, Value):
            new.uses[use] = None

    def set_blocks(self, blocks: Sequence[Block]) -> None:
        """Set the inner blocks; omitted blocks lose their uses of values."""
        self.touch()
        self.has_other_blocks = True
        for block in self.blocks:
            if block not in blocks:
                block.release()
        self.blocks = [*blocks]
        self.take(value.name for value in self.inner_values())

    def remove(self) -> None:
        """Remove the operation with its blocks. Raise GraphError if an output is used outside of it."""
        for value in self.outputs:
            if any(use.user is self or self not in around(use.user) for use in value.uses):
                raise GraphError(f"`{value.name}` is still used: replace its uses before its operation is removed")
        self.detach()
        self.release()

    def release(self) -> None:
        """Remove all uses of values by the finally removed operation, including its blocks."""
        for parameter in self.inputs:
            self._drop(parameter)
        for block in self.blocks:
            block.release()

    def replace_by(self, *values: Value) -> None:
        """Replace the outputs by other values, one for each, and remove the operation. Raise GraphError for a different
        number of them.
        """
        if len(values) != len(self.outputs):
            raise GraphError(f"{self!r} has {tally(len(self.outputs), 'output')}, but {len(values)} replace them")
        for old, new in zip(self.outputs, values, strict=True):
            old.replace_uses(new)
        self.remove()

    def detach(self) -> None:
        """Take the operation out of its block, with its operands, to insert it elsewhere."""
        block = self.block
        if block is None:
            return
        block.touch()
        block.note(self)
        if self.previous is None:
            block.first = self.next
        else:
            self.previous.next = self.next
        if self.next is None:
            block.last = self.previous
        else:
            self.next.previous = self.previous
        self.block = self.next = self.previous = None
        block.is_rebuilt = True

    def walk(self) -> Iterator[Op]:
        """Yield the operations inside the blocks, each before those inside it."""
        for block in self.blocks:
            yield from block.walk()

    def inner_values(self) -> Iterator[Value]:
        """Yield the values that the blocks define."""
        return (value for block in self.blocks for value in block.defined())

    def captured(self) -> list[Value]:
        """Return the values that the blocks use and do not define, each once."""
        inside = {*self.inner_values()}
        inner = [*self.walk()]
        used = chain(
            (value for op in inner for value in op.operands),
            (value for op in (self, *inner) for block in op.blocks for value in block.outputs),
        )
        return list(dict.fromkeys(value for value in used if value not in inside))

    def touch(self) -> None:
        """Mark the operation as edited, before the edit, and all enclosing blocks and operations."""
        self.is_edited = True
        if self.block is not None:
            self.block.touch()

    def take(self, names: Iterable[str]) -> None:
        """Record names that an edit adds, which are not fresh any more."""
        if self.block is not None:
            self.block.take(names)

    def _drop(self, parameter: str) -> None:
        for index, operand in enumerate(self.inputs.get(parameter, ())):
            if isinstance(operand, Value):
                operand.uses.pop(Use(self, parameter, index), None)


def literal_of(operand: Operand) -> proto.Value | None:
    """Return the constant of an argument: a literal, or the value of its `const`.

    None for other arguments, and for a compressed constant, whose value must be computed.
    """
    if not isinstance(operand, Value):
        return operand
    maker = operand.maker
    return maker.literal("val") if maker is not None and maker.type == "const" else None


def maker_of(operand: Operand) -> Op | None:
    """Return the operation that defines an argument; None for a literal, and for a value without an operation."""
    return operand.maker if isinstance(operand, Value) else None


def around(user: Op | Block) -> Iterator[Op]:
    """Yield an operation, and those around it or around a block, from the inside out."""
    part: Op | Function | None = user if isinstance(user, Op) else user.owner
    while isinstance(part, Op):
        yield part
        part = part.block.owner if part.block is not None else None
