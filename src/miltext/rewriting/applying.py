"""The replacement of a site in its graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from miltext.checking.findings import named
from miltext.ir.parts import Op, Value
from miltext.printing.renaming import NAME, rename
from miltext.rewriting.expressions import UnknownFact
from miltext.rewriting.instances import Argument, Instances, NoInstance
from miltext.rewriting.literals import literal_of_data
from miltext.rewriting.matching import is_within
from miltext.rewriting.operands import MatchFacts
from miltext.rewriting.passes import Applied
from miltext.schema.types import StateType, TensorType, compatible, read_type, spelled
from miltext.schema.value_builders import STRING, immediate

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Operand
    from miltext.rewriting.instances import Instance
    from miltext.rewriting.operands import ConstantContents
    from miltext.rewriting.rule_files import RuleReplacement
    from miltext.rewriting.sites import Site
    from miltext.schema import proto


class Replacing:
    """Replaces sites in a graph; equal computed constants of one source become one constant."""

    def __init__(self, contents: ConstantContents) -> None:
        self._contents = contents
        self._instances = Instances(contents)
        self._shared: dict[tuple[object, ...], Value] = {}

    def prepared(self, site: Site) -> Callable[[], Applied]:
        """Return the replacement of a site, which the call makes. Raise NoInstance if it is impossible."""
        replacement = site.rule.replacement
        assert replacement is not None, "a rule without a replacement is refused before"
        block = site.root.block
        assert block is not None, "a site is in a block"
        arguments = self._arguments(site, replacement)
        made = self._instances.of(replacement, site.rule.file, arguments, block.opset)
        old = [self._output(site, value) for value in site.rule.pattern.outputs]
        _require_types(old, made)
        insertion = _Insertion(site, made, arguments, self._contents, self._shared)
        _require_names(old, insertion, block.function)
        return partial(_insert, site, old, insertion)

    def _output(self, site: Site, value: Value) -> Value:
        return site.root.outputs[site.rule.pattern.root.outputs.index(value)]

    def _arguments(self, site: Site, replacement: RuleReplacement) -> dict[str, Argument | None]:
        """Return the arguments of a replacement. Raise NoInstance for an argument without a value."""
        bound, found = site.match.bound, dict[str, "Argument | None"]()
        types = (each.type for each in bound.values())
        dtype = next((each.dtype for each in types if isinstance(each, TensorType) and each.dtype[:2] == "fp"), "fp32")
        for value in replacement.function.inputs:
            if value.name in replacement.computed:
                try:
                    data = replacement.computed[value.name].value(MatchFacts(bound, self._contents))
                except UnknownFact as unknown:
                    raise NoInstance(str(unknown)) from None
                literal = literal_of_data(data, dtype)
                if literal is None:
                    raise NoInstance(f"{named(value.name)} is {data!r}, which cannot be written as a literal")
                made = read_type(literal.type)
                if value.type is not None and not is_within(made, value.type):
                    raise NoInstance(f"{named(value.name)} is {spelled(made)}, not {spelled(value.type)}")
                found[value.name] = Argument(made, literal)
                continue
            each = bound[value.name]
            if (each.type is None and each.operand is not None) or isinstance(each.type, StateType):
                raise NoInstance(f"the type of {named(value.name)} is unknown, or a state")
            omitted = None if each.given else (each.op.type, each.parameter)
            found[value.name] = None if each.operand is None else Argument(each.type, each.literal, omitted)
        return found


class _Insertion:
    """The operations of an instance to be inserted before the last operation of a site."""

    def __init__(
        self,
        site: Site,
        made: Instance,
        arguments: dict[str, Argument | None],
        contents: ConstantContents,
        shared: dict[tuple[object, ...], Value],
    ) -> None:
        self._site = site
        self._made = made
        self._arguments = arguments
        self._contents = contents
        self._shared = shared
        self._stem = site.root.outputs[0].name
        self.ops: list[Op] = []
        self._operands: dict[Value, Operand] = {}
        for value in made.function.inputs:
            argument = arguments[value.name]
            bound = site.match.bound.get(value.name)
            is_computed = value.name in (site.rule.replacement.computed if site.rule.replacement else {})
            self._operands[value] = (
                argument.literal if argument and (is_computed or bound is None) else (bound.operand if bound else None)
            )

    @property
    def block(self) -> Block:
        assert self._site.root.block is not None, "a site is in a block"
        return self._site.root.block

    @property
    def outputs(self) -> list[Value]:
        """The outputs of the instance."""
        return [*self._made.function.outputs]

    def passed(self, output: Value) -> Value | None:
        """Return the value of the program that an output of the instance is; None if it is made anew."""
        operand = self._operands.get(output)
        return operand if isinstance(operand, Value) else None

    def is_constant(self, output: Value) -> bool:
        """Return whether an output of the instance is a new constant."""
        return output in self._made.computed or (self.passed(output) is None and output in self._operands)

    def insert(self) -> list[Value]:
        """Insert the operations, and return the values of the outputs."""
        assert self._made.function.block is not None, "a replacement has a block"
        for op in self._made.function.block:
            if op.type != "const" and any(value in self._made.computed for value in op.outputs):
                continue
            self._insert(op)
        return [self._as_value(output) for output in self.outputs]

    def _insert(self, op: Op) -> None:
        copy = op.copy(self._operand)
        for value, output in zip(op.outputs, copy.outputs, strict=True):
            output.name = self.block.function.fresh(f"{self._stem}_{value.name}")
            self._operands[value] = output
        set_name(copy, self._site.root)
        self.block.insert_before(self._site.root, copy)
        self.ops += [copy] if copy.type != "const" else []

    def _operand(self, value: Value) -> Operand:
        """Return the operand for a value of the instance: computed arrays of fractions are constants by themselves."""
        if value not in self._operands:
            array = self._made.computed[value]
            is_weight = array.dtype.kind == "f" and array.ndim > 0
            self._operands[value] = (
                self._constant(array, value) if is_weight else self._contents.store(array, in_file=False)
            )
        return self._operands[value]

    def _as_value(self, output: Value) -> Value:
        operand = self._operand(output)
        if isinstance(operand, Value):
            return operand
        assert operand is not None, "an output is made, or an argument that is given"
        return self._const(operand, self._site.root)

    def _constant(self, array: Array, value: Value) -> Value:
        """Return a constant with a computed array: one right after its only source, or before the site."""
        sources = [*self._sources()]
        in_file = any(each.literal("val").WhichOneof("value") == "blobFileValue" for each in sources)  # type: ignore[union-attr]
        key = (*map(id, sources), array.dtype.str, array.shape, array.tobytes())
        if len(sources) == 1 and key in self._shared and self._shared[key].maker.block is not None:  # type: ignore[union-attr]
            return self._shared[key]
        message = self._contents.store(array, in_file=in_file)
        if len(sources) != 1:
            return self._const(message, self._site.root, value.name)
        [source] = sources
        assert source.block is not None, "a constant that is used is in a block"
        made = self._shared[key] = self._const(message, source.next, value.name, source.block)
        return made

    def _sources(self) -> Iterator[Op]:
        """Yield the operations `const` that the replacement uses, each once."""
        seen = set[Op]()
        for value in self._made.function.inputs:
            operand, argument = self._operands[value], self._arguments[value.name]
            if argument is not None and argument.literal is not None and isinstance(operand, Value) and operand.maker:
                if operand.maker not in seen:
                    yield operand.maker
                seen.add(operand.maker)

    def _const(self, message: proto.Value, place: Op | None, name: str = "", block: Block | None = None) -> Value:
        fresh = self.block.function.fresh(f"{self._stem}_{name}" if name else self._stem)
        op = Op.new("const", {}, {fresh: read_type(message.type)}, {"val": message})
        set_name(op, self._site.root)
        (block or self.block).insert_before(place, op)
        return op.outputs[0]


def _require_types(old: list[Value], made: Instance) -> None:
    """Raise NoInstance if an output would have another type."""
    for before, after in zip(old, made.function.outputs, strict=True):
        if after.type is None or not compatible(before.type, after.type):
            raise NoInstance(f"{named(before.name)} would be {spelled(after.type)}, not {spelled(before.type)}")


def _require_names(old: list[Value], insertion: _Insertion, function: Function) -> None:
    """Raise NoInstance if an output of the function cannot keep its name."""
    taken = set[Value]()
    for before, after in zip(old, insertion.outputs, strict=True):
        if not is_output(before, function):
            continue
        if insertion.is_constant(after):
            raise NoInstance(constant_output(before))
        passed = insertion.passed(after)
        if passed is None:
            continue
        if reason := kept_name(before, passed, passed in taken or is_output(passed, function)):
            raise NoInstance(reason)
        taken.add(passed)


def set_name(op: Op, replaced: Op) -> None:
    """Give an operation the attribute `name` if the replaced one has it, otherwise remove it."""
    message = op.own()
    message.attributes.pop(NAME, None)
    if NAME in replaced.attributes:
        message.attributes[NAME].CopyFrom(immediate(STRING, op.outputs[0].name))


def is_output(value: Value, function: Function) -> bool:
    """Return whether a value is an output of a function, whose name must stay."""
    return any(block.returns(value) for block in function.blocks.values())


def constant_output(output: Value) -> str:
    """Return the reason against a constant in place of an output."""
    return f"the output {named(output.name)} would be a constant"


def kept_name(output: Value, new: Value, is_returned: bool) -> str:
    """Return the reason why another value cannot take the place and the name of an output; empty if it can.

    `is_returned` states whether the other value is an output itself.
    """
    if new.maker is not None and not is_returned and not new.is_constant:
        return ""
    kind = "an output" if is_returned else "an input or a constant"
    return f"the output {named(output.name)} would be {named(new.name)}, which is {kind} with its own name"


def _insert(site: Site, old: list[Value], insertion: _Insertion) -> Applied:
    """Insert the operations of an instance in place of the operations of a site."""
    new = insertion.insert()
    return Applied(_put(site, old, new, insertion), [op for op in insertion.ops if op.block is not None])


def _put(site: Site, old: list[Value], new: list[Value], insertion: _Insertion) -> list[Op]:
    """Give the uses of old outputs to new ones, with their names, and return the removed operations."""
    function = insertion.block.function
    renamed = []
    for before, after in zip(old, new, strict=True):
        if is_output(before, function) or after.maker in insertion.ops:
            renamed.append((after, before.name))
        if after.maker in insertion.ops and before.type is not None:
            after.type = before.type
        before.replace_uses(after)
    removed = remove_unused([*site.match.ops.values()])
    for value, name in renamed:
        rename(value, name)
    return removed


def remove_unused(ops: list[Op]) -> list[Op]:
    """Remove those of some operations that nothing uses, and the constants that they alone used; return the former."""
    constants: dict[Op, None] = {}
    removed = []
    left = [*ops]
    while unused := [op for op in left if not op.is_used]:
        for op in unused:
            left.remove(op)
            constants.update({each.maker: None for each in op.operands if each.maker and each.is_constant})
            op.remove()
            removed.append(op)
    for op in constants:
        if op.block is not None and not op.is_used:
            op.remove()
    return removed
