"""Descriptions of programs: made from the types, or updated after an edit of the program.

Losses are reported as DescriptionLoss.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.descriptions.counterparts import Counterpart, Version, counterparts
from miltext.descriptions.kinds import NO_COMPILED_SIZES, ProgramFeature, fitted, new_entry, rounding, stated_facts
from miltext.descriptions.losses import DescriptionLoss
from miltext.descriptions.ranges import by_function
from miltext.diagnostics import codes
from miltext.files.refusals import BlamedPart, refusal
from miltext.printing.flexible_shapes import ATTRIBUTE, flexible, read_information
from miltext.schema.features import PREDICTIONS
from miltext.schema.function_io import SIDES, interfaces
from miltext.schema.opsets import TEXT_BY_PROTO, specification_of
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, ImageFeatureType, ModelDescription
from miltext.schema.proto import Model as Spec
from miltext.schema.walk import blocks_of, operations_in, own_block

if TYPE_CHECKING:
    from miltext.descriptions.sizes import Sizes
    from miltext.printing.flexible_shapes import Flexible
    from miltext.schema.function_io import Interface, Types
    from miltext.schema.proto import FunctionDescription, Program

Described: TypeAlias = "ModelDescription | FunctionDescription"

SINCE = {ArrayFeatureType.FLOAT16: 7, ArrayFeatureType.INT8: 10, ImageFeatureType.GRAYSCALE_FLOAT16: 7}
"""The first specification version with an element type of multi-arrays, or a colour space of images."""

SEVERAL_FUNCTIONS = STATES = WITHOUT_INPUTS = SEVERAL_LISTS = 9
"""The first specification version with listed functions, with states, with functions that take no input, and with
several inputs of listed sizes.

Source: coremltools, `mlmodel/src/Validation/InterfaceValidators.cpp` and `Utils.cpp`; for listed sizes, its guide to
flexible inputs, and `_validate_enumerated_shape_inputs`.
"""

DEFAULT_FUNCTION = "main"

NO_SIZES: Mapping[str, Sizes] = {}
"""The requested sizes if there are none."""


class Updated(NamedTuple):
    """The result of an update: its losses, and the former counterpart of each function, by its new name."""

    losses: list[DescriptionLoss]
    functions: Mapping[str, Counterpart]


def describe(program: Program, asked: Mapping[str, Sizes] | None = NO_SIZES) -> ModelDescription:
    """Return a description of the program, with the requested sizes of its inputs.

    If these are None, a `?` is any size from 1 on. Raise ModelError as `update` does.
    """
    described = ModelDescription()
    update(described, Version({}, None), program, interfaces(program), asked)
    return described


def own_head(
    program: Program,
    asked: Mapping[str, Sizes] | None = None,
    *,
    description: ModelDescription | None = None,
    version: int | None = None,
) -> Spec:
    """Return the Model message, without the program, of a program by itself; omitted arguments are inferred from the
    program.

    Raise ModelError as `describe` and `known_version` do.
    """
    description = description or describe(program, asked)
    return Spec(description=description, specificationVersion=version or known_version(program, description))


# ---- an edited program under the description of the original


def update(
    description: ModelDescription,
    before: Version,
    program: Program,
    after: dict[str, Interface],
    asked: Mapping[str, Sizes] | None = NO_SIZES,
    *,
    keeps_names: bool = False,
) -> Updated:
    """Update a description to a changed program, with the requested sizes of its inputs.

    An entry gets the new name of its feature, and keeps all parts that match the new type. Entries of new features are
    made from their types; entries of removed features are removed. After an edit that `keeps_names`, no feature counts
    as renamed. A description without entries stays empty until there is a new feature, and then gets all entries. Raise
    ModelError: MIL420 and MIL422 for a type that cannot be described, MIL424 for a value that can no longer be an
    image, MIL425 for impossible sizes, MIL431 for two training inputs of one name, MIL452 for a `?` without a range.
    """
    known = counterparts(before, Version(after, program), keeps_names=keeps_names)
    _rename_training_inputs(description, before, known.values())
    if before.interfaces and not _says_anything(description):
        if not asked and not _has_more(after, known):
            return Updated([], known)
        before, known = Version({}, None), {}  # otherwise half of the model would be described
    return Updated(_followed(description, before, program, after, known, asked), known)


def follow(
    description: ModelDescription, before: Version, program: Program, known: Mapping[str, Counterpart]
) -> list[DescriptionLoss]:
    """Update a description with the entries of `before` to a program, and return the losses.

    `known` are the former counterparts of the program's functions. A `?` without sizes is any size from 1 on. Raise
    ModelError as `update` does.
    """
    _rename_training_inputs(description, before, known.values())
    return _followed(description, before, program, interfaces(program), known, None)


def _followed(
    description: ModelDescription,
    before: Version,
    program: Program,
    after: dict[str, Interface],
    known: Mapping[str, Counterpart],
    asked: Mapping[str, Sizes] | None,
) -> list[DescriptionLoss]:
    sizes = by_function(asked or {}, after)
    losses: list[DescriptionLoss] = []
    if description.functions or len(after) > 1 or _has_to_be_listed(program, before, after):
        described = _described_functions(description, before, after, known, losses)
    else:
        described = dict.fromkeys(after, description)
    for name, each in described.items():
        own = None if asked is None else sizes[name]
        losses += _update_function(each, known.get(name), after[name], program, name, own)
    return losses


def _rename_training_inputs(description: ModelDescription, before: Version, known: Iterable[Counterpart]) -> None:
    """Give training inputs the new names of the inputs that they are named after, in the default function.

    Raise ModelError (MIL431) if another training input has such a name.
    """
    is_only = len(before.interfaces) == 1
    default = next((each for each in known if is_only or each.name == description.defaultFunctionName), None)
    if default is None:
        return
    names: dict[str, str] = {}
    for entry in description.trainingInput:
        old, new = entry.name, default.sides["input"].get(entry.name, entry.name)
        if names.setdefault(new, old) != old:
            renamed = names[new] if old == new else old
            message = f"the input `{renamed}` has a training input, and the model already has another one named `{new}`"
            raise refusal(codes.NAME_IN_USE, f"{message}; choose another name")
        entry.name = new


def _says_anything(description: ModelDescription) -> bool:
    """Return whether a description has an entry or a function."""
    return any(getattr(description, field) for field in ("functions", *SIDES))


def _has_more(after: Mapping[str, Interface], known: Mapping[str, Counterpart]) -> bool:
    """Return whether there is a new function, input, output or state."""
    return any(
        name not in known or {*types} - {*known[name].sides[side].values()}
        for name, each in after.items()
        for side, types in each.sides.items()
    )


def _has_to_be_listed(program: Program, before: Version, after: Collection[str]) -> bool:
    """Return whether a single function must and can be listed by name: Core ML runs `main` of a model that lists no
    functions.
    """
    return any(
        name != DEFAULT_FUNCTION
        and name not in before.interfaces
        and specification_of(program.functions[name].opset) >= SEVERAL_FUNCTIONS
        for name in after
    )


def _described_functions(
    description: ModelDescription,
    before: Version,
    after: Collection[str],
    known: Mapping[str, Counterpart],
    losses: list[DescriptionLoss],
) -> dict[str, Described]:
    """Make the description list the functions `after`, and return its part for each.

    Losses are added to `losses`.
    """
    renamed = {counterpart.name: name for name, counterpart in known.items()}
    if before.interfaces and not description.functions:
        only = description.functions.add(name=next(iter(before.interfaces)))
        description.defaultFunctionName = only.name
        for field in SIDES:
            getattr(only, field).extend(getattr(description, field))
            description.ClearField(field)
        for field in PREDICTIONS:
            setattr(only, field, getattr(description, field))
            description.ClearField(field)
    for index in reversed(range(len(description.functions))):
        function = description.functions[index]
        if function.name in before.interfaces and function.name not in renamed:
            losses += _lost_with(function, before.interfaces[function.name])
            del description.functions[index]
            continue
        function.name = renamed.get(function.name, function.name)
    default = renamed.get(description.defaultFunctionName, description.defaultFunctionName)
    fallback = DEFAULT_FUNCTION if DEFAULT_FUNCTION in after else min(after, default="")
    description.defaultFunctionName = default if default in after else fallback
    listed = {function.name: function for function in description.functions}
    return {name: listed.get(name) or description.functions.add(name=name) for name in after}


def _lost_with(function: FunctionDescription, interface: Interface) -> list[DescriptionLoss]:
    """Return the losses with a removed function."""
    found = []
    for field, types in interface.sides.items():
        for entry in getattr(function, field):
            if what := stated_facts(entry, types.get(entry.name), field):
                noun = f"the {field} `{entry.name}` of `{function.name}`"
                message = f"{noun} was removed with its function, and had {_listed(what)}"
                found.append(DescriptionLoss(message, is_meant=True, gone=(function.name, entry.name)))
    return found


def _listed(words: Collection[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _update_function(
    described: Described,
    was: Counterpart | None,
    after: Interface,
    program: Program,
    name: str,
    asked: Mapping[str, Sizes] | None,
) -> list[DescriptionLoss]:
    losses: list[DescriptionLoss] = []
    reported = read_information(program.functions[name].attributes.get(ATTRIBUTE))
    for field, types in after.sides.items():
        side = _Side(field, name, was, types, asked if field == "input" else NO_SIZES, reported)
        entries = side.entries(getattr(described, field))
        losses += side.losses
        described.ClearField(field)
        getattr(described, field).extend(entries)
        if field == "output":
            losses += _follow_predictions(described, side)
    if was is None:
        _name_predictions(described, program, name)
    return losses


def _follow_predictions(described: Described, side: _Side) -> list[DescriptionLoss]:
    """Update the fields that name the outputs of a classifier to the new names."""
    losses: list[DescriptionLoss] = []
    had_label = bool(getattr(described, PREDICTIONS[0]))
    for prediction in PREDICTIONS:
        old = getattr(described, prediction)
        new = side.name(old)
        setattr(described, prediction, new)
        if old and not new:
            message = f"the output `{old}` was removed, but was the {prediction}"
            losses.append(DescriptionLoss(message, is_meant=True, gone=(side.function, old)))
    return [*losses, *lone_probabilities(described)] if had_label else losses


def lone_probabilities(described: Described) -> Iterator[DescriptionLoss]:
    """Clear the name of a classifier's probabilities that have no label; yield the loss."""
    label, probabilities = PREDICTIONS
    name = getattr(described, probabilities)
    if name and not getattr(described, label):
        described.ClearField(probabilities)
        yield DescriptionLoss(f"the {probabilities} `{name}` was removed: there is no {label}", is_meant=True)


class _Side:
    """One side of a function before and after an edit; `losses` grows as its entries are made."""

    def __init__(
        self,
        side: str,
        function: str,
        was: Counterpart | None,
        new: Types,
        asked: Mapping[str, Sizes] | None,
        compiled: Mapping[str, Flexible],
    ) -> None:
        self._side, self.function = side, function
        self._old = was.interface.sides[side] if was else {}
        self._names = was.sides[side] if was else {}
        self._keeps_names = was is not None and was.keeps_names
        self._new = new
        self._asked, self._compiled = asked, compiled
        self.losses: list[DescriptionLoss] = []

    def name(self, old: str) -> str:
        """Return the current name of an entry; empty for a removed one. A name outside the program stays."""
        if old in self._old:
            return self._names.get(old, "")
        return "" if old in self._names.values() else old

    def entries(self, listed: Iterable[FeatureDescription]) -> list[FeatureDescription]:
        """Return the kept entries, in their order, then the new ones, in the program's order."""
        named = [(entry, self.name(entry.name)) for entry in listed]
        kept = [self._kept(entry, name) for entry, name in named if name]
        gone = [entry for entry, name in named if not name]
        there = {*self._names.values(), *(entry.name for entry in kept)}
        added = [name for name in self._new if name not in there]
        for entry in gone:
            self._tell_gone(entry, [] if self._keeps_names else added)
        return [*kept, *[new_entry(self._value(name), is_bounded=self._asked is not None) for name in added]]

    def _value(self, name: str) -> ProgramFeature:
        requested = (self._asked or {}).get(name) or None
        return ProgramFeature(
            name,
            self._new.get(name),
            self._side,
            self.function,
            requested,
            self._compiled.get(name, NO_COMPILED_SIZES),
        )

    def _kept(self, entry: FeatureDescription, name: str) -> FeatureDescription:
        old = self._old.get(entry.name)
        if name not in self._new:
            return entry
        made, lost = fitted(entry, old, self._value(name))
        if lost:
            renamed = f" (now `{name}`)" if name != entry.name else ""
            message = f"the type of the {self._side} `{entry.name}`{renamed} changed, and its description loses"
            self.losses.append(DescriptionLoss(f"{message} {_listed(lost)}"))
        if rounded := rounding(entry, made):
            message = f"the type of the {self._side} `{entry.name}` changed: {rounded}"
            self.losses.append(DescriptionLoss(message, is_rounding=True))
        return made

    def _tell_gone(self, entry: FeatureDescription, added: Iterable[str]) -> None:
        """Record the losses with a removed entry; a new entry, preferably of the same type, may be the same feature."""
        old = self._old.get(entry.name)
        what = stated_facts(entry, old, self._side)
        if not what:
            return
        same = [name for name in added if self._new[name] == old] or [*added]
        if same:
            message = f"`{same[0]}` is described by its type alone: nothing shows that it was `{entry.name}`, which"
            self.losses.append(DescriptionLoss(f"{message} was removed, and had {_listed(what)}"))
        else:
            message = f"the {self._side} `{entry.name}` was removed, and had {_listed(what)}"
            self.losses.append(DescriptionLoss(message, is_meant=True, gone=(self.function, entry.name)))


def _name_predictions(described: Described, program: Program, function: str) -> None:
    """Name the classifier's outputs of a new function."""
    block = own_block(program.functions[function])
    if block is None:
        return
    for operation in operations_in(block):
        names = [output.name for output in operation.outputs]
        if operation.type == "classify" and len(names) == 2 and set(names) <= set(block.outputs):
            described.predictedFeatureName, described.predictedProbabilitiesName = names


# ---- the specification version


def required_version(program: Program, description: ModelDescription) -> int:
    """Return the least specification version for all constructs of the program and its description; 0 if no opset is
    known.
    """
    functions = [program.functions[name] for name in program.functions]
    opsets = {opset for function in functions for opset in (function.opset, *blocks_of(function))}
    versions = [*map(specification_of, opsets)]
    described: list[Described] = [*description.functions] or [description]
    for each in described:
        versions += [STATES] * (bool(each.state) or any(map(_is_state, each.input)))
        versions += [WITHOUT_INPUTS] * (bool(each.output) and not each.input)
        versions += [SEVERAL_LISTS] * (sum(map(_has_sizes, each.input)) > 1)
        for entry in (*each.input, *each.output):
            versions.append(SINCE.get(entry.type.multiArrayType.dataType, 0))
            versions.append(SINCE.get(entry.type.imageType.colorSpace, 0))
    if len(functions) > 1 or description.functions or description.defaultFunctionName:
        versions.append(SEVERAL_FUNCTIONS)
    return max(versions, default=0)


def _has_sizes(entry: FeatureDescription) -> bool:
    sizes = flexible(entry)
    return sizes is not None and bool(sizes.shapes)


def _is_state(entry: FeatureDescription) -> bool:
    return entry.type.WhichOneof("Type") == "stateType"


def known_version(program: Program, description: ModelDescription) -> int:
    """Return the specification version for a program by itself.

    Raise ModelError (MIL421) for an unknown opset, and a program without functions.
    """
    if not program.functions:
        raise refusal(codes.UNKNOWN_SPECIFICATION, "the program has no function, so its opset is unknown")
    for name in sorted(program.functions):
        opset = program.functions[name].opset
        if not specification_of(opset):
            known = ", ".join(TEXT_BY_PROTO.values())
            message = f"the opset {opset!r} of `{name}` is unknown; known opsets are {known}"
            raise refusal(codes.UNKNOWN_SPECIFICATION, message, about=BlamedPart("opset", opset, name))
    return required_version(program, description)
