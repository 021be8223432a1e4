"""Instances of a replacement: its function with the types of a match, and all constants that can be computed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from miltext.checking.arrays import Arrays
from miltext.checking.draft_walk import DraftWalk
from miltext.checking.drafts import nothing_inferred
from miltext.checking.findings import named, opset_named
from miltext.checking.inference.operands import Arguments as InferenceArguments
from miltext.checking.inference.operands import Operand as Given
from miltext.checking.inference.operands import read_value
from miltext.diagnostics import MiltextError
from miltext.ir.graph import Graph
from miltext.rewriting.computing import computed
from miltext.rewriting.literals import literal_message
from miltext.schema.operations import first_opset, opset_place, signature
from miltext.schema.paths import Key, Path
from miltext.schema.types import TensorType, Type

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from miltext.evaluation.rules import Array
    from miltext.ir.functions import Function
    from miltext.ir.parts import Op, Value
    from miltext.parsing.recovery import Gap
    from miltext.rewriting.operands import ConstantContents
    from miltext.rewriting.rule_files import RuleFile, RuleReplacement
    from miltext.schema import proto
    from miltext.schema.operations import Signature


class NoInstance(Exception):
    """A replacement is impossible at a site; the message contains the reason."""


class Argument(NamedTuple):
    """The value for an input of a replacement: its type, and its literal if it is a constant.

    `omitted` are the omitted uses, by the type of the operation and the parameter: there, it is a default.
    """

    type: Type
    literal: proto.Value | None
    omitted: tuple[str, str] | None = None


Arguments: TypeAlias = "Mapping[str, Argument | None]"
"""The arguments of a replacement by the names of its inputs, None for omitted ones."""


class Instance(NamedTuple):
    """A replacement with types: its function, and the contents of computed constants, by the values of the function."""

    function: Function
    computed: dict[Value, Array]


class _Inferred(NamedTuple):
    """A replacement with types: its function, and the values that inference knows, by name."""

    function: Function
    known: Mapping[str, object]


class Instances:
    """Makes instances of replacements; inference runs once for equal arguments."""

    def __init__(self, contents: ConstantContents) -> None:
        self._contents = contents
        self._inferred: dict[Hashable, _Inferred | str] = {}

    def of(self, replacement: RuleReplacement, file: RuleFile, arguments: Arguments, opset: str) -> Instance:
        """Return a replacement for arguments, in a block for an opset. Raise NoInstance."""
        key = replacement, opset, tuple((name, _key(argument)) for name, argument in arguments.items())
        known = self._inferred.get(key)
        if known is None:
            try:
                known = _inferred(replacement, file, arguments, opset)
            except NoInstance as reason:
                known = str(reason)
            self._inferred[key] = known
        if isinstance(known, str):
            raise NoInstance(known)
        return Instance(known.function, _Folding(known, arguments, self._contents).computed())


def _key(argument: Argument | None) -> Hashable:
    """Return the part of an argument that inference reads: only the type of a stored or large literal."""
    if argument is None or argument.literal is None:
        return argument
    is_read = read_value(argument.literal, argument.type) is not None
    text = argument.literal.SerializeToString(deterministic=True) if is_read else b""
    return argument.type, text, argument.omitted


def _inferred(replacement: RuleReplacement, file: RuleFile, arguments: Arguments, opset: str) -> _Inferred:
    """Return a replacement with the types that follow from its arguments. Raise NoInstance."""
    graph = _alone(replacement, arguments, opset)
    _refuse_newer(graph.functions[replacement.function.name], opset)
    program = graph.program()
    gaps = _gaps(replacement, file, graph, opset)
    read = file.read._replace(program=program, drafts=gaps, diagnostics=[], flawed=set())
    walk = _InstanceWalk(read, nothing_inferred(read), Arrays(None))
    walk.given = {name: _operand(each) for name, each in arguments.items() if each is not None}
    walk.program()
    _refuse(walk)
    function = Graph(program).functions[replacement.function.name]
    return _Inferred(function, {value.name: operand.value for value, operand in walk.known.items()})


class _InstanceWalk(DraftWalk):
    """Inference in a replacement, whose inputs may be constants."""

    keeps_all = True
    given: Mapping[str, Given]

    def declare(self, values: Iterable[Value]) -> None:
        listed = [*values]
        super().declare(listed)
        self.known.update({value: self.given[value.name] for value in listed if value.name in self.given})


def _alone(replacement: RuleReplacement, arguments: Arguments, opset: str) -> Graph:
    """Return a graph with the function of a replacement alone, without the omitted arguments."""
    name = replacement.function.name
    graph = Graph.alone(name, opset, replacement.function.message)
    for value in graph.functions[name].inputs:
        argument = arguments[value.name]
        for use in [*value.uses]:
            if use.op is not None and (argument is None or (use.op.type, use.parameter) == argument.omitted):
                use.op.remove_input(use.parameter)
        if argument is not None:
            value.type = argument.type
    return graph


def _refuse_newer(function: Function, opset: str) -> None:
    """Raise NoInstance for an operation or a parameter that an opset does not have."""
    for op in function.walk():
        known = signature(op.type, opset)
        if known is None:
            what, first = named(op.type), first_opset(op.type)
        elif unknown := [name for name in op.inputs if name not in known.parameters]:
            what, first = f"{named(unknown[0])} of {named(op.type)}", first_opset(op.type, partial(_has, unknown[0]))
        else:
            continue
        is_later = opset_place(first) > opset_place(opset)
        way = f"raise its opset to {first}, or use another rule" if is_later else "use another rule"
        raise NoInstance(f"{what} is not in {opset_named(opset)}, the opset of the function: {way}")


def _has(name: str, version: Signature) -> bool:
    return name in version.parameters


def _gaps(replacement: RuleReplacement, file: RuleFile, graph: Graph, opset: str) -> dict[Path, Gap]:
    """Return the remaining gaps of a replacement in its graph, for a block of another opset."""
    ops, depth = graph.operations(), len(replacement.path)
    found = {}
    for path, gap in file.read.drafts.items():
        if path[:depth] == replacement.path and "operations" in path[depth:]:
            made = (*path[: depth + 1], Key(opset), *path[depth + 2 :])
            op, part, name = ops[made[: depth + 4]], made[depth + 4], str(made[depth + 5])
            if part != "inputs" or name in op.inputs:
                found[made] = gap
    return found


def _operand(argument: Argument) -> Given:
    literal = argument.literal
    if literal is None:
        return Given(argument.type, constant=False)
    return Given(argument.type, value=read_value(literal, argument.type))


def _refuse(walk: _InstanceWalk) -> None:
    """Raise NoInstance for the first mistake of a replacement with the types of a match."""
    types = walk.types
    for inference in walk.found:
        if inference.clash is not None:
            about = f"`{inference.clash.parameter}` of " if inference.clash.parameter else ""
            raise NoInstance(f"{about}`{inference.operation.type}` {inference.clash.clause}")
        _refuse_dtypes(inference.arguments)
    findings = [*types.findings, *types.unknown.values(), *types.strange.values()]
    if findings or types.diagnostics:
        raise NoInstance(findings[0].message if findings else types.diagnostics[0].message)
    if types.open:
        raise NoInstance("a type of the replacement cannot be inferred")


def _refuse_dtypes(given: InferenceArguments) -> None:
    """Raise NoInstance for an argument whose data type an operation does not take, alone or beside another argument."""
    known = signature(given.op_type, given.opset)
    shared: dict[str, str] = {}
    for name, operands in given.operands.items():
        parameter = known.parameters.get(name) if known else None
        if parameter is None:
            continue
        for dtype in sorted({each.type.dtype for each in operands if isinstance(each.type, TensorType)}):
            if parameter.dtypes and dtype not in parameter.dtypes:
                raise NoInstance(f"`{name}` of `{given.op_type}` does not take {dtype}")
            if parameter.domain is not None and shared.setdefault(parameter.domain, dtype) != dtype:
                raise NoInstance(f"`{given.op_type}` does not take {shared[parameter.domain]} and {dtype} together")


class _Folding:
    """The values of an instance that depend on constants alone."""

    def __init__(self, inferred: _Inferred, arguments: Arguments, contents: ConstantContents) -> None:
        self._function = inferred.function
        self._known = inferred.known
        self._arguments = arguments
        self._contents = contents
        self._inferred: dict[Value, Array] = {}
        self._evaluated: list[Op] = []

    def computed(self) -> dict[Value, Array]:
        """Return the contents of the values. Raise NoInstance for a value that cannot be computed."""
        fixed = {value for value in self._function.inputs if self._argument(value) is not None}
        assert self._function.block is not None, "a replacement has a block"
        for op in self._function.block:
            known = self._known.get(op.outputs[0].name) if len(op.outputs) == 1 else None
            if op.type != "const" and _is_int32(op.outputs[0].type) and _is_whole(known):
                self._inferred[op.outputs[0]] = np.array(known, np.int32)
            elif op.type != "const" and not all(value in fixed for value in op.operands):
                continue
            elif op.type != "const":
                self._evaluated.append(op)
            fixed.update(op.outputs)
        return {**self._inferred, **(self._results() if self._evaluated else {})}

    def _argument(self, value: Value) -> proto.Value | None:
        """Return the literal of an input; None for an input without one."""
        argument = self._arguments.get(value.name)
        return None if argument is None else argument.literal

    def _literal(self, value: Value) -> proto.Value:
        """Return a constant that an evaluated operation uses. Raise NoInstance for an unreadable one."""
        if value in self._inferred:
            return literal_message(self._inferred[value])
        literal = value.maker.literal("val") if value.maker is not None else self._argument(value)
        if literal is not None and literal.WhichOneof("value") == "blobFileValue":
            array = self._contents.array(literal)
            literal = None if array is None else literal_message(array)
        if literal is None:
            raise NoInstance(f"the constant `{value.name}` cannot be read")
        return literal

    def _results(self) -> dict[Value, Array]:
        """Return the outputs of the evaluated operations."""
        try:
            found = computed(self._evaluated, self._function.message.opset, self._literal)
        except MiltextError as failure:
            raise NoInstance(f"a constant cannot be computed: {failure.diagnostics[0].message}") from None
        for value, array in found.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all() and self._is_finite():
                raise NoInstance(f"the constant `{value.name}` leaves the range of its data type")
        return found

    def _is_finite(self) -> bool:
        """Return whether all constants of the program are finite."""
        arrays = [self._contents.array(each.literal) for each in self._arguments.values() if each is not None]
        return all(each is None or each.dtype.kind != "f" or bool(np.isfinite(each).all()) for each in arrays)


def _is_whole(value: object) -> bool:
    return value is not None and (not isinstance(value, tuple) or None not in value)


def _is_int32(stated: Type) -> bool:
    return isinstance(stated, TensorType) and stated.dtype == "int32"
