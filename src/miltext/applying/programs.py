"""A Program with the edits of a difference, made in its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.applying.attributes import edited_attributes
from miltext.applying.constants import ConstantEdits, spare_uses
from miltext.applying.entries import EntryTable
from miltext.applying.inputs import edit_inputs
from miltext.applying.ordering import place_operations, precede_uses
from miltext.applying.partners import Partners
from miltext.applying.refusing import lacking, other_model
from miltext.diffing.edits import (
    ArgumentEdit,
    AttributeEdit,
    BlockAdded,
    BlockRemoved,
    FunctionAdded,
    FunctionEdit,
    FunctionRemoved,
    NameEdit,
    OperationAdded,
    OperationEdit,
    OperationRemoved,
    OperationReplaced,
    OperationsMoved,
    OpsetEdit,
    OutputsEdit,
    ProgramFieldEdit,
    ResultsEdit,
    TypeEdit,
)
from miltext.ir.functions import Block
from miltext.ir.graph import Graph
from miltext.ir.parts import GraphError, Op
from miltext.ir.planting import Planting, connected, take_literals
from miltext.ir.reading import read_function
from miltext.pairing.keyed import NAME
from miltext.schema.proto import Function as FunctionMessage
from miltext.schema.wire import wire_of
from miltext.syntax.names import name_text
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.diffing.edits import Edit
    from miltext.diffing.lining_up import Texts
    from miltext.ir.functions import Function
    from miltext.ir.parts import Value
    from miltext.ir.planting import Taken
    from miltext.schema.proto import Message, Program


def edited_program(program: Message, texts: Texts, edits: Iterable[Edit], taken: Taken, name: str) -> Program:
    """Return the Program with edits; `texts` are the Difference's texts, `name` is the model for errors.

    `taken` returns each new literal as the result has it. Raise ModelError for a Program other than the compared one,
    and for edits that need others.
    """
    own = own_copy(program)
    if wire_of(own) != wire_of(texts.old.message):
        raise other_model("its program is not the compared program", name)
    try:
        return _ProgramEdits(own, texts, edits, taken, name).run()
    except GraphError as failure:
        raise lacking(str(failure), name) from failure


class _ProgramEdits:
    def __init__(self, program: Program, texts: Texts, edits: Iterable[Edit], taken: Taken, name: str) -> None:
        self._graph = Graph(program)
        self._texts = texts
        self._taken = taken
        self._name = name
        self._partners = Partners(texts, self._graph)
        self._planting = Planting(taken)
        self._edits = EntryTable(edits)
        self._constants = ConstantEdits(self._edits, self._partners)

    def run(self) -> Program:
        self._functions = self._named_functions()
        for removed in self._edits.of(FunctionRemoved):
            del self._functions[self._function_name(removed.old)]
        self._free()
        self._remove()
        for block in self._edits.of(BlockAdded):
            self._plant_block(block)
        for added in self._edits.of(OperationAdded):
            self._planting.op(added.new)
        edit_inputs(self._edits, self._partners, self._planting)
        self._change_values()
        self._change_attributes()
        self._connect()
        self._place()
        self._add_functions()
        return self._written()

    # ---- old parts

    def _free(self) -> None:
        """Take the operands away from everything that gets others, and edit constants that nothing uses any more."""
        for argument in self._edits.of(ArgumentEdit):
            self._clear(argument)
        for replaced in self._edits.of(OperationReplaced):
            self._clear(replaced)
        for outputs in self._edits.of(OutputsEdit):
            self._partners.blocks[outputs.old].outputs = []

    def _clear(self, edit: ArgumentEdit | OperationReplaced) -> None:
        op = self._own(edit.old)
        for parameter in [edit.key] if isinstance(edit, ArgumentEdit) else [*op.inputs]:
            op.remove_input(parameter)

    def _own(self, old: Op) -> Op:
        return self._partners.ops[old]

    def _remove(self) -> None:
        """Remove operations and blocks, users before the operations that they use, and then unused constants."""
        blocks = [self._partners.blocks[edit.old] for edit in self._edits.of(BlockRemoved)]
        removed = {self._own(edit.old) for edit in self._edits.of(OperationRemoved)}
        for block in blocks:
            self._remove_block(block, removed)
        edited = self._edited()
        for op in reversed([each for each in self._graph.walk() if each in removed or each in edited]):
            spare_uses(op, self._partners)
            if op in removed:
                op.remove()
        for edit in self._constants.settle(self._graph):
            self._clear(edit)

    def _edited(self) -> set[Op]:
        """Return the constants whose value, type or place changes."""
        of = self._edits.of
        held = {each.holder for each in of(AttributeEdit) if isinstance(each.holder, Op)}
        ops = held | {each.old for each in of(OperationEdit)} | {each.old for each in of(OperationReplaced)}
        ops |= {each.old.maker for each in of(TypeEdit) if each.old.maker is not None}
        moved = {self._partners.new_ops[op] for each in of(OperationsMoved) for op in each.new}
        return {op for op in {*map(self._own, ops), *moved} if op.is_constant}

    def _remove_block(self, block: Block, removed: set[Op]) -> None:
        left = next((op for op in block if op not in removed), None)
        if left is not None:
            raise lacking(f"a removed block still has `{name_text(left.type)}`", self._name)
        owner = block.owner
        if isinstance(owner, Op):
            owner.set_blocks([each for each in owner.blocks if each is not block])
        else:
            owner.remove_block(block.opset)

    # ---- functions and blocks

    def _named_functions(self) -> dict[str, Function]:
        """Return the functions by their new names, and set their opsets."""
        for edit in self._edits.of(OpsetEdit):
            function = self._partners.functions[edit.old]
            if edit.opset is not None:
                function.set_opsets(edit.opset, function.blocks)
        self._rename_opsets()
        named: dict[str, Function] = {}
        names = {self._partners.functions[edit.old]: edit.name for edit in self._edits.of(FunctionEdit)}
        for function in self._graph.functions.values():
            name = names.get(function, function.name)
            if name in named:
                raise lacking(f"two functions would have the name `{name_text(name)}`", self._name)
            if name != function.name:
                function.touch()
            named[name] = function
        return named

    def _rename_opsets(self) -> None:
        """Give blocks their new opsets, all at once."""
        renamed: dict[Function, dict[str, str]] = {}
        for edit in self._edits.of(OpsetEdit):
            if edit.block is not None:
                renamed.setdefault(self._partners.functions[edit.old], {})[edit.block[0]] = edit.block[1]
        for function, opsets in renamed.items():
            blocks = {opsets.get(opset, opset): block for opset, block in function.blocks.items()}
            if len(blocks) < len(function.blocks):
                raise lacking(f"two blocks of `{name_text(function.name)}` would have one opset", self._name)
            function.set_opsets(function.opset, blocks)

    def _function_name(self, old: Function) -> str:
        own = self._partners.functions[old]
        return next(name for name, each in self._functions.items() if each is own)

    def _plant_block(self, edit: BlockAdded) -> None:
        owner = self._partners.owner(edit.new.owner)
        if owner is None:
            raise lacking("a block is added to an operation that no entry adds", self._name)
        block = self._planting.block(edit.new, owner)
        if isinstance(owner, Op):
            assert isinstance(edit.place, int), "an inner block has an index"
            owner.set_blocks([*owner.blocks[: edit.place], block, *owner.blocks[edit.place :]])
            return
        if edit.place in owner.blocks:
            raise lacking(f"two blocks of `{name_text(owner.name)}` would have one opset", self._name)
        owner.set_opsets(owner.opset, {**owner.blocks, str(edit.place): block})

    def _add_functions(self) -> None:
        for edit in self._edits.of(FunctionAdded):
            if edit.name in self._functions:
                raise lacking(f"two functions would have the name `{name_text(edit.name)}`", self._name)
            message = FunctionMessage.FromString(wire_of(edit.new.message))
            made = self._functions[edit.name] = read_function(edit.name, message)
            made.touch()
            for op in made.walk():
                take_literals(op, self._taken)
            self._take_attributes(made)
            for block in made.blocks.values():
                self._take_attributes(block)

    def _take_attributes(self, part: Function | Block) -> None:
        for key, value in part.attributes.items():
            part.set_attribute(key, self._taken(value))

    # ---- values and operations

    def _change_values(self) -> None:
        """Set the types and names of values and operations."""
        for edit in self._edits.of(OperationEdit):
            self._own(edit.old).own().type = edit.type
        for results in self._edits.of(ResultsEdit):
            self._set_results(results)
        for typed in self._edits.of(TypeEdit):
            self._partners.values[typed.old].declare(typed.message)
        kept = self._constants.kept
        for named in self._edits.of(NameEdit):
            own = self._partners.values[named.old]
            if own.maker not in kept:
                own.name = named.name
        for replaced in self._edits.of(OperationReplaced):
            self._replace(replaced)

    def _set_results(self, edit: ResultsEdit) -> None:
        """Give an operation as many outputs as the new one has."""
        op = self._own(edit.old)
        kept, several = op.outputs[: len(edit.outputs)], edit.outputs[len(op.outputs) :]
        for value, new in zip(kept, edit.outputs, strict=False):
            assert new.message is not None, "an output is declared"
            value.declare(new.message)
        op.touch()
        op.outputs = [*kept, *self._planting.declared(several, op)]

    def _replace(self, edit: OperationReplaced) -> None:
        op, new = self._own(edit.old), edit.new
        message = op.own()
        message.type = new.type
        for key in [each for each in message.attributes if each != NAME]:
            del message.attributes[key]
        for key, value in new.attributes.items():
            if key != NAME:
                message.attributes[key].CopyFrom(self._taken(value))
        for output, other in zip(op.outputs, new.outputs, strict=True):
            assert other.message is not None, "an output is declared"
            output.declare(other.message)

    def _change_attributes(self) -> None:
        """Set the attributes of operations, blocks and functions."""
        for edit in self._edits.of(AttributeEdit):
            if isinstance(edit.holder, Op):
                message = self._own(edit.holder).own()
                message.attributes.pop(edit.key, None)
                if edit.value is not None:
                    message.attributes[edit.key].CopyFrom(self._taken(edit.value))
        several: dict[Block | Function, list[AttributeEdit]] = {}
        for edit in self._edits.of(AttributeEdit):
            if edit.holder is not None and not isinstance(edit.holder, Op):
                several.setdefault(edit.holder, []).append(edit)
        for holder, edits in several.items():
            part = self._partners.blocks[holder] if isinstance(holder, Block) else self._partners.functions[holder]
            for key, value in edited_attributes(part.attributes, edits, self._taken, self._name).items():
                part.set_attribute(key, value)

    # ---- uses

    def _connect(self) -> None:
        """Give new and edited operations their operands, and edited blocks their outputs."""
        for edit in self._edits.of(ArgumentEdit):
            if edit.operands is not None:
                operands = connected(edit.operands, self._find, self._taken)
                self._own(edit.old).set_input(edit.key, operands)
        for replaced in self._edits.of(OperationReplaced):
            for parameter, bound in replaced.new.inputs.items():
                self._own(replaced.old).set_input(parameter, connected(bound, self._find, self._taken))
        for outputs in self._edits.of(OutputsEdit):
            self._partners.blocks[outputs.old].outputs = [self._find(value) for value in outputs.outputs]
        self._planting.connect(self._find)

    def _find(self, new: Value) -> Value:
        """Return the value of the graph for a value that a new part uses."""
        self._constants.plant(new, self._planting)
        planted = self._planting.values.get(new)
        if planted is not None:
            return planted
        found = self._partners.value(new)
        if found is None or not _is_there(found):
            raise lacking(f"no entry adds `{name_text(new.name)}`, which another one uses", self._name)
        return found

    # ---- order and names

    def _place(self) -> None:
        """Put new and moved operations where they are in the new program, and constants before their uses."""
        moved = [op for edit in self._edits.of(OperationsMoved) for op in edit.new]
        place_operations(moved, self._partners, self._planting)
        loose = [self._own(op) for edit in self._edits.of(FunctionEdit) for op in edit.loose]
        left = [op for op in dict.fromkeys([*self._constants.kept, *loose]) if op.block is not None]
        precede_uses(left)
        for op in left:
            assert op.block is not None, "it was not removed"
            function = op.block.function
            for value in op.outputs:
                if sum(each.name == value.name for each in function.defined()) > 1:
                    value.name = function.fresh(value.name)

    def _written(self) -> Program:
        self._graph.functions = self._functions
        clashing = [edit.name for edit in self._edits.of(FunctionEdit) if edit.may_clash]
        made = self._graph.program(may_clash=clashing)
        for edit in self._edits.of(ProgramFieldEdit):
            setattr(made, edit.field, edit.value)
        edits = [each for each in self._edits.of(AttributeEdit) if each.holder is None]
        for key, value in edited_attributes(made.attributes, edits, self._taken, self._name).items():
            made.attributes.pop(key, None)
            if value is not None:
                made.attributes[key].CopyFrom(value)
        return made


def _is_there(value: Value) -> bool:
    """Return whether a value is still defined."""
    owner = value.owner
    if isinstance(owner, Op):
        return value in owner.outputs and owner.block is not None
    return owner is None or value in owner.inputs
