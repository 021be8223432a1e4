"""Calls of imported functions: their arguments, their outputs, and the findings about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.findings import Finding, but, counted, named
from miltext.descriptions.kept_sizes import allowed_in_words
from miltext.diagnostics import MiltextError, codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import ORDER_CHANNELS, OTHER_COLOURS, listed
from miltext.ir.parts import Value
from miltext.parsing.elaboration import UNNAMED
from miltext.parsing.lowering.imports import import_named
from miltext.parsing.spans import bodies_of, operations_of
from miltext.printing.flexible_shapes import flexible
from miltext.schema.paths import Key
from miltext.schema.types import StateType, TensorType, compatible, is_known, read_type, spelled
from miltext.syntax.names import name_text
from miltext.syntax.phrases import arguments, functions, imported, name_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miltext.checking.imported_functions import ImportedFunction, ImportedFunctions
    from miltext.diagnostics import Span
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Op, Operand
    from miltext.parsing.lowering.imports import ImportReference
    from miltext.schema.paths import Path
    from miltext.schema.types import Type
    from miltext.syntax.tree import Node

_BY_ITSELF = "a text by itself has no folder in which this model could be, so {}; give the path of the text"
MOST = 6
"""The most names in a message."""


def import_findings(graph: Graph, imports: ImportedFunctions | None, dialect: str) -> Iterator[Finding]:
    """Yield the findings about the imports of a text; without `imports`, it has no folder."""
    lost: list[Finding] = []
    images = _Images()
    for path, op in graph.operations().items():
        reference = import_named(op.type)
        if reference is None:
            continue
        yield from _strange_parts(op, path)
        if imports is None:
            lost.append(_by_itself(op, path))
        else:
            call = ImportCall(op, reference, imports, dialect)
            yield from call.findings(path)
            if call.is_readable:
                yield from images.findings(call, path)
    yield from sorted(lost, key=lambda each: each.severity)[:1]  # an error before a note


def _strange_parts(op: Op, path: Path) -> Iterator[Finding]:
    """Yield the findings about what an import cannot have: blocks, and attributes except for its name."""
    for name in sorted(op.attributes):
        if name != "name":
            message = f"an import has no attribute {named(name)}: its operations have their own"
            yield Finding((*path, "attributes", Key(name), "key"), codes.MISSPELLED_ATTRIBUTE, message)
    if op.blocks:
        yield Finding((*path, "type"), codes.IMPOSSIBLE_IMPORT, "an import has no blocks: remove them")


def _by_itself(op: Op, path: Path) -> Finding:
    """Return the finding about an import in a text without a folder."""
    is_typed = all(is_known(value.type) for value in op.outputs)
    said = "everything except its arguments is checked" if is_typed else "the types of its outputs are not known"
    severity = "note" if is_typed else "error"
    return Finding((*path, "type"), codes.IMPORT_IN_TEXT, _BY_ITSELF.format(said), severity=severity)


class ImportCall:
    """An operation that stands for a function of another model."""

    def __init__(self, op: Op, reference: ImportReference, imports: ImportedFunctions, dialect: str) -> None:
        self.op, self.reference, self.imports, self.dialect = op, reference, imports, dialect

    @property
    def called(self) -> ImportedFunction:
        """The function. Raise ModelError (MIL409, MIL430)."""
        return self.imports.function(self.reference)

    def names(self) -> dict[str, str]:
        """Return the names of the inputs by the names of the arguments, of which one may be its place alone."""
        inputs = [*self.called.inputs]
        return {name: self._input(name, inputs) for name in self.op.inputs}

    def _input(self, name: str, inputs: Sequence[str]) -> str:
        place = name.removeprefix(UNNAMED)
        is_place = name.startswith(UNNAMED) and place.isdecimal() and name not in inputs
        return inputs[int(place) - 1] if is_place and int(place) <= len(inputs) else name

    @property
    def is_readable(self) -> bool:
        """Whether the function can be read."""
        try:
            return bool(self.called)
        except MiltextError:
            return False

    def taken(self, name: str) -> Type:
        """Return the type of the input of an argument; None for an unknown one."""
        return self.called.inputs.get(self.names()[name])

    def outputs(self, given: Mapping[str, Type]) -> list[Type]:
        """Return the types of the outputs, given those of the arguments by their names. Raise ModelError (MIL409)."""
        return [*self.imports.outputs(self.reference, self._opened(given)).values()]

    def opened(self) -> dict[str, TensorType]:
        """Return the declared types of the arguments that fix open sizes of inputs, by the names of these."""
        return self._opened(self._declared())

    def _declared(self) -> dict[str, Type]:
        return {name: type_of(self.op.operand(name)) for name in self.op.inputs}

    def _opened(self, given: Mapping[str, Type]) -> dict[str, TensorType]:
        names, inputs = self.names(), self.called.inputs
        types = {names[name]: each for name, each in given.items() if name in names}
        tensors = [(name, each, inputs.get(name)) for name, each in types.items() if isinstance(each, TensorType)]
        return {name: each for name, each, taken in tensors if each != taken and _fits(each, taken)}

    def followed(self, given: Mapping[str, Type]) -> list[Type] | None:
        """Return the types of the outputs as `outputs` does; None for a wrong call."""
        try:
            return self.outputs(given)
        except MiltextError:
            return None

    # ---- findings

    def findings(self, path: Path) -> Iterator[Finding]:
        """Yield the findings about the call at a path."""
        try:
            found = [*self._inputs(path), *self._count(path), *self._opset(path)]
            yield from found
            if not any(each.severity == "error" for each in found):
                yield from self._types(path)
        except MiltextError as failure:
            yield self._refused(path, failure)

    def _refused(self, path: Path, failure: MiltextError) -> Finding:
        said = failure.diagnostics[0]
        return Finding((*path, "type"), said.code, f"`{self.reference}`: {said.message}")

    def _inputs(self, path: Path) -> Iterator[Finding]:
        inputs, names, seen = self.called.inputs, self.names(), set[str]()
        left = [name for name in inputs if name not in names.values()]
        for name, own in names.items():
            place = (*path, "inputs", Key(name))
            if own not in inputs:
                yield self._unknown(place, name, left)
            elif own in seen:
                message = f"`{own}` is given twice: by its place, and by its name"
                yield Finding(place, codes.POSITIONAL_ARGUMENT, message)
            else:
                seen.add(own)
                yield from self._argument(place, own, inputs[own], self.op.inputs[name])
        if left:
            yield self._missing(path, left)

    def _unknown(self, place: Path, name: str, left: list[str]) -> Finding:
        """Return the finding about an argument for no input; the input that is probably meant is not missing."""
        inputs = [*self.called.inputs]
        takes = f"; it takes {listed(inputs, 'and', MOST)}" if inputs else "; it takes nothing"
        if name.startswith(UNNAMED):
            message = f"`{self.reference}` takes {counted(len(inputs), 'argument')}, and this is an extra one"
            return Finding(place, codes.POSITIONAL_ARGUMENT, message + (takes if inputs else ""))
        near = nearest(name, left) or (left[0] if len(left) == 1 else None)
        if near is not None:
            left.remove(near)
        message = f"`{self.reference}` has no input {named(name)}{did_you_mean(near) or takes}"
        return Finding((*place, "key"), codes.UNKNOWN_PARAMETER, message, suggestion=near)

    def _missing(self, path: Path, left: Sequence[str]) -> Finding:
        """Return the finding about inputs without an argument, with the way to pass a state."""
        inputs = self.called.inputs
        message = f"`{self.reference}` lacks {listed(left, 'and', MOST)}, which it requires"
        states = [name for name in left if isinstance(inputs[name], StateType)]
        if states:
            kind = spelled(inputs[states[0]], self.dialect)
            way = f"a state is an input of the text: declare `{kind} {states[0]}` in the head of the function, and pass"
            message += f"; {way} `{states[0]} = {states[0]}`"
        return Finding((*path, "type"), codes.MISSING_PARAMETER, message)

    def _argument(self, place: Path, name: str, taken: Type, operands: Sequence[Operand]) -> Iterator[Finding]:
        binding = (*place, "arguments", 0)
        if len(operands) != 1:
            message = f"{named(name)} takes one value, not {len(operands)}"
            yield Finding(place, codes.SEVERAL_VALUES, message)
            return
        given = type_of(operands[0])
        if given == taken or not is_known(given):  # an unknown one has a finding of its own
            return
        if not isinstance(given, TensorType) or not _fits(given, taken):
            yield Finding(binding, codes.TYPES_OF_BINDING, self._differ(name, given, taken))
        elif words := self._excluded(name, given):
            message = f"{named(name)} is {spelled(given, self.dialect)}, but allows {words}"
            yield Finding(binding, codes.TYPES_OF_BINDING, f"{message}; `miltext reshape` gives it other sizes")

    def _excluded(self, name: str, given: TensorType) -> str:
        """Return the sizes that the description of an input allows, in words, if not the given ones."""
        entry = self.called.entry("input", name)
        allowed = flexible(entry) if entry is not None else None
        sizes = tuple(size for size in given.shape if size is not None)
        if allowed is None or len(sizes) < len(given.shape) or allowed.allows(sizes):
            return ""
        return allowed_in_words(allowed)

    def _differ(self, name: str, given: Type, taken: Type) -> str:
        message = f"{named(name)} of `{self.reference}` is {spelled(taken, self.dialect)}, not"
        message += f" {spelled(given, self.dialect)}"
        if not isinstance(given, TensorType) or not isinstance(taken, TensorType):
            return message
        if len(given.shape) != len(taken.shape):
            return f"{message}; `reshape` or `squeeze` makes a value of its rank"
        if given.dtype != taken.dtype:
            return f'{message}; `cast(x, "{taken.dtype}")` makes a value of its data type'
        if any(size is None and wanted is not None for size, wanted in zip(given.shape, taken.shape, strict=True)):
            return f"{message}; `miltext reshape` gives the model inputs of any size"
        return f"{message}; `miltext reshape` gives the model inputs of other sizes"

    def _count(self, path: Path) -> Iterator[Finding]:
        outputs, given = [*self.called.outputs], len(self.op.outputs)
        if given != len(outputs):
            returns = f"`{self.reference}` returns {counted(len(outputs), 'value')}"
            message = f"{returns} ({', '.join(map(named, outputs))}), {but(given)} declared"
            yield Finding((*path, "type"), codes.WRONG_OUTPUT_COUNT, message)

    def _opset(self, path: Path) -> Iterator[Finding]:
        opset = str(path[3])  # of the function's block
        if opset and (reason := self.imports.obstacle(self.reference, opset)):
            yield Finding((*path, "type"), codes.NOT_IN_OPSET, f"`{self.reference}`: {reason}")

    def _types(self, path: Path) -> Iterator[Finding]:
        made_types = self.outputs(self._declared())
        for index, (value, made) in enumerate(zip(self.op.outputs, made_types, strict=True)):
            if not is_known(value.type) and not is_known(made):
                message = f"the type of {named(value.name)} cannot be inferred: `{self.reference}` has none; write it"
                yield Finding((*path, "outputs", index, "type"), codes.NOT_INFERRED, message)
            elif is_known(value.type) and not compatible(value.type, made):
                own, stated = spelled(made, self.dialect), spelled(value.type, self.dialect)
                message = f"`{self.reference}` returns {own} here, not {stated}"
                place = (*path, "outputs", index, "type")
                yield Finding(place, codes.TYPE_MISMATCH, message, suggestion=own if is_known(made) else None)


class _Images:
    """The values of a text that are images of imports, with their colour spaces."""

    def __init__(self) -> None:
        self._known: dict[Value, tuple[int, str]] = {}

    def findings(self, call: ImportCall, path: Path) -> Iterator[Finding]:
        """Yield the images with other colour spaces than the inputs of a call; learn the images of the call."""
        for name, own in call.names().items():
            operand, colours = call.op.operand(name), call.called.colours("input", own)
            if not isinstance(operand, Value) or not colours:
                continue
            if operand.maker is None:
                self._known.setdefault(operand, (colours, f"{named(own)} of `{call.reference}`"))
            before, words = self._known.get(operand, (colours, ""))
            if before != colours:
                message = f"{named(own)} of `{call.reference}` and {words} {OTHER_COLOURS}; {ORDER_CHANNELS}"
                place = (*path, "inputs", Key(name), "arguments", 0)
                yield Finding(place, codes.TYPES_OF_BINDING, message)
        for value, own in zip(call.op.outputs, call.called.outputs, strict=False):
            if colours := call.called.colours("output", own):
                self._known[value] = colours, f"{named(own)} of `{call.reference}`"


def type_of(operand: Operand) -> Type:
    """Return the type of an operand; None for nothing."""
    return operand.type if isinstance(operand, Value) else None if operand is None else read_type(operand.type)


def _fits(given: TensorType, taken: Type) -> bool:
    """Return whether the sizes of a value equal those of an input, or fix open ones, with equal data types."""
    if not isinstance(taken, TensorType) or given.dtype != taken.dtype or len(given.shape) != len(taken.shape):
        return False
    return all(wanted in (None, size) for size, wanted in zip(given.shape, taken.shape, strict=True))


# ---- arguments by their places


def unnamed_arguments(root: Node | None) -> dict[Path, Span]:
    """Return the names of arguments of imports that elaboration made of their places, by path."""
    found: dict[Path, Span] = {}
    bodies = (each for function in functions(root) for each in bodies_of(function)) if root else ()
    for path, operation in (each for place, body in bodies for each in operations_of(body, place)):
        for argument in arguments(operation) if imported(operation) else ():
            token = argument.children[0]
            place: Path = (*path, "inputs", Key(name_in(argument)))
            if token.name == "NAME" and name_in(argument).startswith(UNNAMED):
                found[place] = token.span
    return found


def named_arguments(call: ImportCall, path: Path, places: Mapping[Path, Span]) -> dict[Span, str]:
    """Return the names of the inputs in place of those that elaboration made of the places of arguments."""
    names = {(*path, "inputs", Key(name)): own for name, own in call.names().items() if name != own}
    return {places[place]: name_text(own) for place, own in names.items() if place in places}
