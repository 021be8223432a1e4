"""Descriptions from MIL types: what an app learns from Core ML about a model's inputs, states and outputs.

How each type is described is what coremltools 9.0 writes (`converters/mil/backend/mil/load.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from miltext.diagnostics import warning
from miltext.models.building.counterparts import Version, counterparts
from miltext.models.building.placing import Subject
from miltext.models.refusals import refusal
from miltext.models.sizes import GREATEST_SIZE
from miltext.models.tensor_data import tensor_dtype, tensor_shape
from miltext.printing.printer import type_text
from miltext.schema.features import ANY_SIZE, ELEMENTS, LABELS
from miltext.schema.function_io import interfaces
from miltext.schema.opsets import SPECIFICATION_BY_PROTO, TEXT_BY_PROTO
from miltext.schema.proto import (
    ArrayFeatureType,
    FeatureDescription,
    FeatureType,
    ImageFeatureType,
    ModelDescription,
)
from miltext.schema.walk import own_block

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.models.building.counterparts import Counterpart
    from miltext.schema.function_io import Interface, Types
    from miltext.schema.proto import FunctionDescription, Program, ValueType

Described: TypeAlias = "ModelDescription | FunctionDescription"

SINCE = {ArrayFeatureType.FLOAT16: 7, ArrayFeatureType.INT8: 10, ImageFeatureType.GRAYSCALE_FLOAT16: 7}
"""The specification version that brought an element type to multi-arrays, or a colour space to images."""

SEVERAL_FUNCTIONS = STATES = 9
"""The specification version that brought them."""

PREDICTIONS = ("predictedFeatureName", "predictedProbabilitiesName")
"""The fields that name the outputs of a classifier."""

DEFAULT_FUNCTION = "main"


def describe(program: Program) -> tuple[ModelDescription, list[Diagnostic]]:
    """Return a description made from the program alone, and warnings about what had to be guessed."""
    described = ModelDescription()
    warnings = update(described, Version({}, None), program, interfaces(program))
    return described, warnings


def feature(name: str, value_type: ValueType | None, side: str, function: str) -> FeatureDescription:
    """Return the description of one input, state or output, by the MIL type that it has.

    Raise ModelError: MIL420 for a type that no description has, MIL422 for an output without a type.
    """
    noun = f"the {side} `{name}` of `{function}`"
    subject = Subject(side, name, function)
    if value_type is None:
        raise refusal("MIL422", f"{noun} is not defined", about=subject)
    made = _feature_type(value_type, side)
    if made is None:
        message = f"{noun} is a {type_text(value_type)}, which a Core ML description cannot have"
        raise refusal("MIL420", message, about=subject)
    return FeatureDescription(name=name, type=made)


def _feature_type(value_type: ValueType, side: str) -> FeatureType | None:
    kind, dtype, made = value_type.WhichOneof("type"), tensor_dtype(value_type), FeatureType()
    if kind == "stateType":
        array = _array(value_type.stateType.wrappedType, side) if side == "state" else None
        if array is None or array.WhichOneof("ShapeFlexibility"):
            return None
        made.stateType.arrayType.CopyFrom(array)
    elif kind == "dictionaryType":
        key = tensor_dtype(value_type.dictionaryType.keyType)
        if key is None or key.name not in LABELS:
            return None
        getattr(made.dictionaryType, f"{key.name}KeyType").SetInParent()
    elif dtype is not None and dtype.name in LABELS and tensor_shape(value_type) == ():
        getattr(made, f"{dtype.name}Type").SetInParent()
    else:
        array = _array(value_type, side)
        return None if array is None else FeatureType(multiArrayType=array)
    return made


def _array(value_type: ValueType, side: str) -> ArrayFeatureType | None:
    """Return a multi-array; of an input with unknown sizes, each is any from 1 up; for an output they are left out."""
    dtype, tensor = tensor_dtype(value_type), value_type.tensorType
    if dtype is None or dtype.name not in ELEMENTS or tensor.rank != len(tensor.dimensions):
        return None
    if any(dimension.constant.size > GREATEST_SIZE for dimension in tensor.dimensions):
        return None
    made = ArrayFeatureType(dataType=ELEMENTS[dtype.name])
    shape = tensor_shape(value_type)
    if shape is not None:
        made.shape.extend(shape or ((1,) if side == "input" else ()))
    elif any(dimension.unknown.variadic for dimension in tensor.dimensions):
        return None
    elif side != "output":
        for dimension in tensor.dimensions:
            is_known = dimension.WhichOneof("dimension") == "constant"
            size = dimension.constant.size if is_known else 1
            made.shape.append(size)
            made.shapeRange.sizeRanges.add(lowerBound=size, upperBound=size if is_known else ANY_SIZE)
    return made


# ---- an edited program under the description of the original


def update(
    description: ModelDescription, before: Version, program: Program, after: dict[str, Interface]
) -> list[Diagnostic]:
    """Make a description fit a program that was changed, and return warnings about what could not be kept.

    An entry is kept if what it describes is still there and has the type that it had `before`; if that was renamed, the
    entry gets the new name. Entries for what is new or has another type are made from the type; those for what is gone
    are removed. Raise ModelError as `feature` does.
    """
    known = counterparts(before, Version(after, program))
    if description.functions or len(after) > 1:
        described = _described_functions(description, before, after, known)
    else:
        described = dict.fromkeys(after, description)
    warnings: list[Diagnostic] = []
    for name, each in described.items():
        warnings += _update_function(each, known.get(name), after[name], program, name)
    return warnings


def _described_functions(
    description: ModelDescription, before: Version, after: Collection[str], known: Mapping[str, Counterpart]
) -> dict[str, Described]:
    """Have the description list the functions that there are `after`, and return what it has of each."""
    renamed = {counterpart.name: name for name, counterpart in known.items()}
    if before.interfaces and not description.functions:
        only = description.functions.add(name=next(iter(before.interfaces)))
        for field in ("input", "state", "output"):
            getattr(only, field).extend(getattr(description, field))
            description.ClearField(field)
        for field in PREDICTIONS:
            setattr(only, field, getattr(description, field))
            description.ClearField(field)
    for index in reversed(range(len(description.functions))):
        function = description.functions[index]
        if function.name in before.interfaces and function.name not in renamed:
            del description.functions[index]
        function.name = renamed.get(function.name, function.name)
    default = renamed.get(description.defaultFunctionName, description.defaultFunctionName)
    fallback = DEFAULT_FUNCTION if DEFAULT_FUNCTION in after else min(after, default="")
    description.defaultFunctionName = default if default in after else fallback
    listed = {function.name: function for function in description.functions}
    return {name: listed.get(name) or description.functions.add(name=name) for name in after}


def _update_function(
    described: Described, was: Counterpart | None, after: Interface, program: Program, name: str
) -> list[Diagnostic]:
    warnings: list[Diagnostic] = []
    for field, types in after.sides.items():
        side = _Side(field, name, was, types)
        entries = side.entries(getattr(described, field))
        warnings += side.warnings
        described.ClearField(field)
        getattr(described, field).extend(entries)
        if field == "output":
            for prediction in PREDICTIONS:
                setattr(described, prediction, side.name(getattr(described, prediction)))
    if was is None:
        _name_predictions(described, program, name)
    return warnings


class _Side:
    """One side of a function before and after an edit; `warnings` grows as its entries are made."""

    def __init__(self, side: str, function: str, was: Counterpart | None, new: Types) -> None:
        self._place = side, function
        self._old = was.interface.sides[side] if was else {}
        self._names = was.sides[side] if was else {}
        self._new = new
        self.warnings: list[Diagnostic] = []

    def name(self, old: str) -> str:
        """Return what is now called so; empty for what is gone. What the program never had keeps its name."""
        if old in self._old:
            return self._names.get(old, "")
        return "" if old in self._names.values() else old

    def entries(self, listed: Iterable[FeatureDescription]) -> list[FeatureDescription]:
        """Return the entries that are kept, in their order, then those that are new, in the program's."""
        named = [(entry, self.name(entry.name)) for entry in listed]
        kept = [self._kept(entry, name) for entry, name in named if name]
        gone = [entry for entry, name in named if not name]
        there = {*self._names.values(), *(entry.name for entry in kept)}
        return [*kept, *[self._added(name, gone) for name in self._new if name not in there]]

    def _kept(self, entry: FeatureDescription, name: str) -> FeatureDescription:
        if entry.name not in self._old or self._old[entry.name] == self._new[name]:
            return FeatureDescription(name=name, shortDescription=entry.shortDescription, type=entry.type)
        made = feature(name, self._new[name], *self._place)
        made.shortDescription, made.type.isOptional = entry.shortDescription, entry.type.isOptional
        if what := self._said(entry):
            message = f"the type of `{entry.name}` changed, so that its description is made anew; it had {what}"
            self.warnings.append(warning("MIL450", message))
        return made

    def _added(self, name: str, gone: list[FeatureDescription]) -> FeatureDescription:
        """Return a new entry, and warn if one that is `gone` may have been the same and said more."""
        made = feature(name, self._new[name], *self._place)
        if made.type.multiArrayType.WhichOneof("ShapeFlexibility"):
            message = f"the sizes of the input `{name}` for its `?` are unknown: the description allows any from 1 on"
            self.warnings.append(warning("MIL452", message))
        for entry in gone:
            what = self._said(entry) or ("a description" if entry.shortDescription else "")
            if what and self._old.get(entry.name) == self._new[name]:
                message = f"`{name}` is described by its type alone: nothing shows that it was `{entry.name}`, which"
                self.warnings.append(warning("MIL450", f"{message} is gone, and had {what}"))
                break
        return made

    def _said(self, entry: FeatureDescription) -> str:
        """Return what an entry says that its type does not; empty if nothing."""
        said, old = FeatureType.FromString(entry.type.SerializeToString()), self._old.get(entry.name)
        said.isOptional = False
        if old is not None and said == _feature_type(old, self._place[0]):
            return ""
        return "an image" if said.WhichOneof("Type") == "imageType" else "sizes or defaults of its own"


def _name_predictions(described: Described, program: Program, function: str) -> None:
    """Say which outputs of a new function are a classifier's."""
    block = own_block(program.functions[function])
    if block is None:
        return
    for operation in block.operations:
        names = [output.name for output in operation.outputs]
        if operation.type == "classify" and len(names) == 2 and set(names) <= set(block.outputs):
            described.predictedFeatureName, described.predictedProbabilitiesName = names


# ---- the specification version


def required_version(program: Program, description: ModelDescription) -> int:
    """Return the least specification version that has all that the program and its description use; 0 if no opset is
    known.
    """
    opsets = {opset for name in program.functions for opset in program.functions[name].block_specializations}
    opsets |= {program.functions[name].opset for name in program.functions}
    versions = [SPECIFICATION_BY_PROTO.get(opset, 0) for opset in opsets]
    described: list[Described] = [description, *description.functions]
    for each in described:
        versions += [STATES] * bool(each.state)
        for entry in (*each.input, *each.output):
            versions.append(SINCE.get(entry.type.multiArrayType.dataType, 0))
            versions.append(SINCE.get(entry.type.imageType.colorSpace, 0))
    if len(program.functions) > 1:
        versions.append(SEVERAL_FUNCTIONS)
    return max(versions, default=0)


def known_version(program: Program, description: ModelDescription) -> int:
    """Return the specification version for a program by itself.

    Raise ModelError (MIL421) for an unknown opset, and where no function names one.
    """
    if not program.functions:
        raise refusal("MIL421", "the program has no function: nothing says which opset a model of it needs")
    for name in sorted(program.functions):
        opset = program.functions[name].opset
        if opset not in SPECIFICATION_BY_PROTO:
            known = ", ".join(TEXT_BY_PROTO.values())
            message = f"the opset {opset!r} of `{name}` is unknown; known opsets are {known}"
            raise refusal("MIL421", message, about=Subject("opset", opset, name))
    return required_version(program, description)
