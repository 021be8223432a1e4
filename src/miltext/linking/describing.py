"""The description of linked models: the entries of each, under the names of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.descriptions.losses import DescriptionLoss
from miltext.descriptions.parts import beside_kinds
from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION, known_version, required_version
from miltext.drafting.model_parts import name_predictions, take_metadata
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema.features import PREDICTIONS
from miltext.schema.proto import FunctionDescription, ModelDescription
from miltext.schema.proto import Model as Spec
from miltext.schema.stamps import BUILD_INFO
from miltext.schema.walk import own_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from miltext.linking.bindings import Bindings
    from miltext.linking.joining import Joined
    from miltext.linking.parts import End, LinkedPart
    from miltext.schema.proto import Function, Program


def head_of_joined(made: Bindings, joined: Joined, losses: list[DescriptionLoss]) -> Spec:
    """Return the Model message of joined models, without the program; losses are added to `losses`."""
    description = ModelDescription()
    for end, name in (*joined.taken.items(), *joined.given.items()):
        entry = getattr(description, end.side).add()
        entry.CopyFrom(made.parts[end.part].entry(end.side, end.name))
        entry.name = name
    given = [(part, _names(joined.given, part)) for part in made.parts]
    name_predictions(description, given, losses)
    losses += _lost(made)
    function = joined.program.functions[DEFAULT_FUNCTION]
    losses += _lost_attributes(made.parts, joined.program, [function] * len(made.parts))
    return _head(made.parts, joined.program, description, losses)


def head_of_functions(parts: Sequence[LinkedPart], program: Program, losses: list[DescriptionLoss]) -> Spec:
    """Return the Model message of models as functions, without the program; the first function is the default."""
    description = ModelDescription(defaultFunctionName=parts[0].name)
    for part in parts:
        described = FunctionDescription(name=part.name)
        for end in part.ends("input", "output", "state"):
            getattr(described, end.side).add().CopyFrom(part.entry(end.side, end.name))
        for field in PREDICTIONS:
            setattr(described, field, getattr(part.described, field))
        description.functions.add().CopyFrom(described)
    losses += _lost_attributes(parts, program, [program.functions[part.name] for part in parts])
    return _head(parts, program, description, losses)


def _names(given: Mapping[End, str], part: LinkedPart) -> dict[str, str]:
    """Return the names in the whole of a model's outputs, by their own."""
    return {end.name: name for end, name in given.items() if end.part == part.place}


def _lost(made: Bindings) -> Iterator[DescriptionLoss]:
    """Yield the facts about bound values that the whole does not state."""
    for end, source in made.sources.items():
        own, other = (made.parts[each.part].entries(each.side).get(each.name) for each in (end, source))
        if own is None or other is None:
            continue
        if source.side == "output" and other.type.WhichOneof("Type") == "imageType":
            message = f"`{made.spelled(source)}` was an image, whose numbers Core ML rounds; `{made.spelled(end)}`"
            yield DescriptionLoss(f"{message} gets them unrounded")
        if source.side != "output" and own.shortDescription not in ("", other.shortDescription):
            message = f"`{made.spelled(end)}` and `{made.spelled(source)}` are one {end.side}"
            yield DescriptionLoss(f"{message}, and the short description of the first is not kept")


def _lost_attributes(
    parts: Sequence[LinkedPart], program: Program, functions: Iterable[Function]
) -> Iterator[DescriptionLoss]:
    """Yield the attributes of models that differ in the whole, in whose function each is; stamps do not count."""
    for part, function in zip(parts, functions, strict=True):
        own, whole = ([each.attributes] for each in (part.built.spec.mlProgram, program))
        for found, message in ((own, part.message), (whole, function)):
            block = own_block(message)
            found += [message.attributes, *([block.attributes] if block is not None else [])]
        for before, after in zip(own, whole, strict=True):
            for key in sorted(before):
                if key not in (BUILD_INFO, ATTRIBUTE) and after.get(key) != before[key]:
                    yield DescriptionLoss(f"another attribute `{key}` of `{part.name}` is not kept")


# ---- the head


def _head(
    parts: Sequence[LinkedPart], program: Program, description: ModelDescription, losses: list[DescriptionLoss]
) -> Spec:
    take_metadata(description, parts, losses)
    unknown = [part.name for part in parts if beside_kinds(part.built.spec)]
    losses += [DescriptionLoss(f"`{name}` has fields that the schema lacks, which are not kept") for name in unknown]
    version = max([known_version(program, description), *map(_stated_version, parts)])
    return Spec(specificationVersion=version, description=description)


def _stated_version(part: LinkedPart) -> int:
    """Return the specification version of a model if it is greater than the model needs; else 0."""
    spec = part.built.spec
    stated = spec.specificationVersion
    return stated if stated > required_version(spec.mlProgram, spec.description) else 0
