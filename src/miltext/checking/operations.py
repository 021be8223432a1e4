"""Checks of operations against their signatures, and of their declared types against the inferred types.

The signatures come from `miltext.schema.operations`, the rules of types from `miltext.checking.inference`: both are
weaker, never stronger, where writers of Programs differ.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.blocks import block_findings
from miltext.checking.findings import Finding, Remark, but, counted, named, one_of, opset_named
from miltext.checking.inference.program import Walk
from miltext.checking.limits import clashes, literal, to_write
from miltext.checking.values import ATTRIBUTES
from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean, nearest, one_slip_from
from miltext.diagnostics.wording import listed
from miltext.schema.elsewhere import Meant, meant
from miltext.schema.operations import Parameter, Signature, all_names, first_opset, opset_place, signature
from miltext.schema.paths import Key, Path, block_path
from miltext.schema.types import StateType, TensorType, Type, compatible, is_known, spelled
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.checking.inference import Inference
    from miltext.checking.inference.operands import InputClash, Operand
    from miltext.checking.inference.reading import StatedGraph

_KINDS = {f"{kind.capitalize()}Type": kind for kind in ("tensor", "list", "tuple", "dictionary", "state")}


def operation_findings(graph: StatedGraph, dialect: str = "1.3", faulty: set[Path] | None = None) -> Iterator[Finding]:
    """Find the errors of the operations of a graph; suggest types in the dialect.

    Add the paths of all operations with wrong inputs to `faulty`, even for an error reported before.
    """
    reported = _Reported(set(), set())
    for inference in Walk(graph).program():
        form = len(inference.operation.inputs), *inference.declared
        right = inference.outcome.right
        if form in right:
            continue
        call = _CheckedCall(inference, reported, dialect)
        found = list(call.findings())
        yield from found
        if call.faulty and faulty is not None:
            faulty.add(call.path)
        if call.faulty or any(finding.severity == "error" for finding in found):
            continue
        if inference.doubts or not inference.agrees:
            yield from (call.clash(doubt)._replace(severity="warning") for doubt in inference.doubts)
            yield from _type_findings(inference, call)
        elif not found and not call.is_reported:
            right.add(form)


class _Reported(NamedTuple):
    """The subjects of earlier findings, which are not reported again; `newer` are names that need a later opset, by
    function.
    """

    newer: set[tuple[str, ...]]
    operands: set[Operand]


def message_path(path: Sequence[str | int]) -> Path:
    """Return the path of an operation's message from the path of its Inference."""
    function, opset, *places = path
    steps = block_path(str(function), str(opset))
    for nth, place in enumerate(places):
        steps += ("blocks" if nth % 2 else "operations", place)
    return steps


class _CheckedCall:
    """An operation with its signature.

    It is `faulty` if an input is wrong. `is_reported` is true if its error is reported at another operation.
    """

    def __init__(self, inference: Inference, reported: _Reported, dialect: str) -> None:
        self.inference = inference
        self.operation = inference.operation
        self.arguments = inference.arguments
        self.operands = inference.arguments.operands
        self.function, self.opset, *_ = map(str, inference.path)
        self.faulty = False
        self.is_reported = False
        self._place = inference.path
        self._reported = reported
        self.dialect = dialect

    @property
    def path(self) -> Path:
        return message_path(self._place)

    def findings(self) -> Iterator[Finding]:
        known = signature(self.operation.type, self.opset)
        if known is None:
            yield from self.unknown()
            return
        reported = [*self.parameters(known), *self.domains(known)]
        yield from reported
        wrong = (finding.path for finding in reported if finding.severity == "error")
        yield from self.limits(known, {path[: len(self.path) + 2] for path in wrong})
        yield from self.results(known)
        yield from block_findings(self.inference, known, self.path)

    # ---- the operation itself

    def unknown(self) -> Iterator[Finding]:
        name = self.operation.type
        since = first_opset(name)
        if since is not None:
            yield from self.later((*self.path, "type"), f"`{name}` came with {since}", name)
        elif name_text(name) == name:  # a malformed name has its own finding
            hint, near = self.elsewhere(known) if (known := meant(name)) else _slip_of(name)
            message = f"the operation `{name}` is not known{hint}"
            yield Finding((*self.path, "type"), codes.UNKNOWN_OPERATION, message, suggestion=near, severity="warning")

    def elsewhere(self, known: Meant) -> tuple[str, str | None]:
        """Return the hint about an operation of another framework, and its name in MIL if the inputs match."""
        if known.way:
            return f"; {known.way}", None
        signatures = [made for made in map(signature, known.names) if made]
        fitting = [made.name for made in signatures if self.fits(made)]
        if len(fitting) == 1:
            return f"; in MIL it is `{fitting[0]}`", fitting[0]
        takes = f", which takes {listed(signatures[0].parameters, 'and')}" if len(signatures) == 1 else ""
        return f"; in MIL it is {listed(known.names)}{takes}", None

    def fits(self, known: Signature) -> bool:
        """Return whether an operation accepts the inputs of this one."""
        inputs, given = self.operation.inputs, {*self.operation.inputs, *self.operation.attributes}
        return known.parameters.keys() >= inputs.keys() and given.issuperset(_required(known, [*known.parameters]))

    def later(self, path: Path, what: str, *key: str) -> Iterator[Finding]:
        """Report the use of a later opset, once per function."""
        key = self.function, self.opset, *key
        if key in self._reported.newer:
            self.is_reported = True
        else:
            self._reported.newer.add(key)
            yield Finding(path, codes.NOT_IN_OPSET, f"{what}; this function is {opset_named(self.opset)}")

    # ---- parameters

    def parameters(self, known: Signature) -> Iterator[Finding]:
        missing = [name for name in known.parameters if name not in self.operands]
        if not known.open and (strange := [name for name in self.operation.inputs if name not in known.parameters]):
            yield from self.unlisted(sorted(set(strange) - ATTRIBUTES), known, missing)
        yield from self.misspelt_attributes(known, [] if known.open else missing)
        required = _required(known, missing)
        if required:
            lacks = listed(required, "and")
            yield Finding(
                (*self.path, "type"), codes.MISSING_PARAMETER, f"`{known.name}` lacks {lacks}, which it requires"
            )
        yield from (
            self.recommended(known.parameters[name]) for name in missing if known.parameters[name].asked is not None
        )
        for name, parameter in known.parameters.items():
            if name in self.operands:
                yield from self.bound(parameter, self.operands[name])

    def recommended(self, parameter: Parameter) -> Finding:
        """Report an omitted parameter that some loaders require, with its value in the data type of `x`."""
        beside = {operand.type.dtype for operand in self.operands.get("x", ()) if isinstance(operand.type, TensorType)}
        made = TensorType(max(beside & parameter.dtypes or parameter.dtypes), ())
        written = f"`{parameter.name} = {spelled(made, self.dialect)}({json.dumps(parameter.asked)})`"
        message = f"{self.named(parameter.name)} is left out, and some of Core ML's loaders require it; write {written}"
        return Finding((*self.path, "type"), codes.REQUIRED_DEFAULT, message, severity="warning")

    def unlisted(self, names: list[str], known: Signature, missing: list[str]) -> Iterator[Finding]:
        """Report unknown inputs; the parameters that they probably mean are removed from `missing`.

        Inputs unlike any parameter are reported together, for another operation is probably meant.
        """
        strange: list[str] = []
        for name in names:
            since = _first_with(known.name, name)
            near = nearest(name, missing)
            if since is not None and self.lacks(since):
                what = f"{self.named(name)} came with {since}"
                yield from self.later((*self.argument(name), "key"), what, known.name, name)
            elif since is not None:
                yield self.gone(name, known, missing)
            elif near is not None:
                missing.remove(near)
                yield self.stranger([name], known, near)
            else:
                strange.append(name)
        if strange:
            required = _required(known, missing)
            takes_all = len(required) == 1 and (len(names) == 1 or known.parameters[required[0]].variadic)
            near = required[0] if takes_all else None
            if near is not None:
                missing.remove(near)
            yield self.stranger(strange, known, near)

    def misspelt_attributes(self, known: Signature, missing: list[str]) -> Iterator[Finding]:
        """Report misspelt attributes; the parameters that they probably mean are removed from `missing`.

        Such an attribute resembles a missing parameter, or replaces a required one. Any other attribute may be a
        writer's own. An attribute one slip from `name` is a warning, for an operation needs no name.
        """
        attributes = self.operation.attributes
        for name in sorted(attributes.keys() - known.parameters.keys() - ATTRIBUTES):
            required = _required(known, missing)
            near = nearest(name, [*missing, *(ATTRIBUTES - attributes.keys())])
            if near in ATTRIBUTES and one_slip_from(name, [near]):
                message = f"`{known.name}` has no attribute {named(name)}{did_you_mean(near)}"
                path = (*self.argument(name), "key")
                yield Finding(path, codes.MISSPELLED_ATTRIBUTE, message, suggestion=near, severity="warning")
                continue
            near = near if near in missing else None
            if near is None and len(required) == 1:
                near = required[0]
            if near in missing:
                missing.remove(near)
            if near is not None or required:
                yield self.stranger([name], known, near)

    def lacks(self, opset: str) -> bool:
        """Return whether an opset is later than the function's."""
        return opset_place(opset) > opset_place(self.opset)

    def gone(self, name: str, known: Signature, missing: list[str]) -> Finding:
        """Report a parameter of earlier opsets; the only required parameter replaces it."""
        near = required[0] if len(required := _required(known, missing)) == 1 else None
        if near is not None:
            missing.remove(near)
        now = f"it is `{near}`" if near else f"`{known.name}` takes {listed(known.parameters, 'and')}"
        message = f"{self.named(name)} was removed in {known.opset}; since then, {now}"
        return Finding((*self.argument(name), "key"), codes.NOT_IN_OPSET, message, suggestion=near)

    def stranger(self, names: list[str], known: Signature, near: str | None) -> Finding:
        """Report inputs that probably mean `near`, if any."""
        first, *others = [(name, (*self.argument(name), "key")) for name in names]
        together = f"; `{near}` takes all together: `{near} = (...)`" if near and others else ""
        hint = together or did_you_mean(near) or f"; it takes {listed(known.parameters, 'and') or 'none'}"
        message = f"`{known.name}` has no parameter {named(first[0])}{hint}"
        remarks = tuple(Remark(f"nor {named(name)}", path) for name, path in others)
        return Finding(first[1], codes.UNKNOWN_PARAMETER, message, remarks, None if others else near)

    def bound(self, parameter: Parameter, operands: Sequence[Operand]) -> Iterator[Finding]:
        if not parameter.variadic and len(operands) != 1:
            yield self.several(parameter, operands)
            return
        for index, operand in enumerate(operands):
            if found := list(self.operand(parameter, operand, index)):
                is_news = operand not in self._reported.operands
                self.blame(operand)
                yield from found if is_news else ()

    def several(self, parameter: Parameter, operands: Sequence[Operand]) -> Finding:
        """Report a parameter of one value with several operands: constants may be meant as a vector."""
        name, message = parameter.name, f"`{parameter.name}` takes one value, not {len(operands)}"
        is_vector = any(pattern.has_rank(1) for pattern in parameter.shape) and {()} == {
            operand.type.shape if isinstance(operand.type, TensorType) else None for operand in operands
        }
        meant = literal(operands, (len(operands),), self.dialect) if is_vector else None
        if meant is None and is_vector:
            message += "; `concat` makes a vector of them first"
        suggestion = f"{name_text(name)} = {meant}" if meant else None
        return Finding(self.argument(name), codes.SEVERAL_VALUES, message + to_write(meant), suggestion=suggestion)

    def blame(self, operand: Operand) -> None:
        """Record a fault of an operand, which is reported at its first use."""
        self.faulty = True
        self._reported.operands.add(operand)

    def operand(self, parameter: Parameter, operand: Operand, index: int) -> Iterator[Finding]:
        """Find the first error in an operand of a parameter."""
        kind, name = _kind(operand.type), parameter.name
        if kind and kind not in parameter.kinds:
            message = f"{self.named(name)} takes {one_of(parameter.kinds)}, not a {kind}"
            yield Finding(self.binding(name, index), codes.WRONG_KIND_OF_ARGUMENT, message)
        elif isinstance(operand.type, TensorType) and parameter.dtypes and operand.type.dtype not in parameter.dtypes:
            yield from self.data_type(parameter, operand.type.dtype, self.binding(name, index))
        elif parameter.constant and not operand.constant:
            message = f"{self.named(name)} must be known when the program is compiled"
            yield Finding(self.binding(name, index), codes.NOT_CONSTANT, message)

    def data_type(self, parameter: Parameter, dtype: str, path: Path) -> Iterator[Finding]:
        """Report a data type that the parameter rejects, in this opset or in all."""
        name, op_type = parameter.name, self.operation.type
        since = first_opset(op_type, lambda version: dtype in version.dtypes(name))
        if since is not None and self.lacks(since):
            yield from self.later(path, f"{self.named(name)} may be {dtype} from {since} on", op_type, name, dtype)
        else:
            before = f"; before {opset_named(self.opset)}, it took this type" if since is not None else ""
            message = f"{self.named(name)} takes {listed(sorted(parameter.dtypes))}, not `{dtype}`{before}"
            yield Finding(path, codes.UNSUPPORTED_DTYPE, message)

    def domains(self, known: Signature) -> Iterator[Finding]:
        """Require the same data type for parameters of a domain; each operation reports its first clash."""
        clashing = set[str | None]()
        first: dict[str | None, tuple[str, int, Operand, str]] = {}
        for name, parameter in known.parameters.items():
            for index, operand in enumerate(self.operands.get(name, ()) if parameter.domain else ()):
                if not isinstance(operand.type, TensorType):
                    continue
                dtype = operand.type.dtype
                where, at, other, expected = first.setdefault(parameter.domain, (name, index, operand, dtype))
                if dtype != expected:
                    remark = Remark(f"`{where}` is {expected}", self.binding(where, at))
                    message = f"`{name}` is {dtype}, but `{where}` is {expected}: they must be of one data type"
                    finding = Finding(self.binding(name, index), codes.DTYPES_DIFFER, message, (remark,))
                    if parameter.loose:
                        yield finding._replace(severity="warning")
                    else:
                        self.faulty = True
                        if parameter.domain not in clashing and self._reported.operands.isdisjoint((operand, other)):
                            yield finding
                        clashing.add(parameter.domain)

    def limits(self, known: Signature, faulty: Collection[Path]) -> Iterator[Finding]:
        """Require shapes and values within the limits of arguments, except of arguments with a finding."""
        for clash in clashes(known, self.operands, self.dialect):
            if clash.parameter is None or self.argument(clash.parameter) not in faulty:
                self.faulty = True
                yield self.clash(clash)

    def clash(self, clash: InputClash) -> Finding:
        """Report a clash at its argument, with remarks at the other arguments."""
        remarks = tuple(
            Remark(f"`{name}` is {self.shown(self.operands[name][0])}", self.binding(name, 0))
            for name in clash.beside
            if self.operands.get(name)
        )
        if clash.parameter is None:
            path, message = (*self.path, "type"), f"`{self.operation.type}` cannot take these: {clash.clause}"
        else:
            path, message = self.binding(clash.parameter, clash.place), f"{self.named(clash.parameter)} {clash.clause}"
        return Finding(path, clash.code, message, remarks, clash.suggestion)

    def shown(self, operand: Operand) -> str:
        """Spell a scalar whose value is known, and the type of anything else."""
        scalar = isinstance(operand.type, TensorType) and operand.type.shape == ()
        return (literal([operand], (), self.dialect) if scalar else None) or spelled(operand.type, self.dialect)

    def named(self, name: str) -> str:
        """Name a parameter in a message."""
        return f"`{name}` of `{self.operation.type}`"

    def argument(self, name: str) -> Path:
        return (*self.path, "inputs" if name in self.operation.inputs else "attributes", Key(name))

    def binding(self, name: str, index: int) -> Path:
        path = self.argument(name)
        return (*path, "arguments", index) if name in self.operation.inputs else path

    # ---- outputs

    def results(self, known: Signature) -> Iterator[Finding]:
        (least, most), given = known.outputs, len(self.operation.outputs)
        if given < least or (most is not None and given > most):
            some = f"{least} or more values" if most is None else f"{least} to {most} values"
            number = counted(least, "value") if least == most else some
            yield Finding(
                (*self.path, "type"),
                codes.WRONG_OUTPUT_COUNT,
                f"`{known.name}` returns {number}, {but(given)} declared",
            )


@functools.lru_cache(maxsize=1 << 8)
def _slip_of(name: str) -> tuple[str, str | None]:
    """Return the hint about a wholly unknown operation, and the name that may be meant."""
    near = one_slip_from(name, all_names())
    return did_you_mean(near), near


def _first_with(op_type: str, parameter: str) -> str | None:
    """Return the first opset in which an operation has a parameter."""
    return first_opset(op_type, lambda version: parameter in version.parameters)


def _required(known: Signature, names: Sequence[str]) -> list[str]:
    return [name for name in names if known.parameters[name].required]


def _kind(type: Type) -> str | None:
    return None if type is None else _KINDS[type.__class__.__name__]


# ---- types


def _type_findings(inference: Inference, call: _CheckedCall) -> Iterator[Finding]:
    """Find declared types that contradict the inferred ones."""
    path, op_type = call.path, inference.operation.type
    if inference.clash is not None:
        yield call.clash(inference.clash)
    elif inference.inferred is None:
        return
    elif len(inference.inferred) != len(inference.declared):
        gives, declares = len(inference.inferred), len(inference.declared)
        message = f"`{op_type}` returns {counted(gives, 'value')} here, {but(declares)} declared"
        yield Finding((*path, "type"), codes.OUTPUT_COUNT_FOR_INPUTS, message)
    else:
        for index, (declared, followed) in enumerate(zip(inference.declared, inference.inferred, strict=True)):
            if not compatible(declared, followed) and not isinstance(declared, StateType):
                made, stated = spelled(followed, call.dialect), spelled(declared, call.dialect)
                message = f"`{op_type}` returns {made} here, not {stated}"
                meant = made if is_known(followed) else None
                yield Finding((*path, "outputs", index, "type"), codes.TYPE_MISMATCH, message, suggestion=meant)
