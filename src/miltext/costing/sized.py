"""A model with the sizes of its inputs: from the caller, and the defaults of its description."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import named
from miltext.containers.programs import TextModel
from miltext.descriptions.sizes import Size, shape_of, spell_sizes
from miltext.diagnostics import Note, codes
from miltext.drafting.programs import completed
from miltext.drafting.reshaping import chosen_functions, require_inputs, reshape
from miltext.evaluation.features import NOTHING_SAID, features_of
from miltext.files.refusals import refusal
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.printing.printing import to_text
from miltext.schema.types import StateType, TensorType, read_type, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from miltext.descriptions.sizes import Sizes
    from miltext.diagnostics import Diagnostic
    from miltext.evaluation.features import Feature
    from miltext.models.model import Model
    from miltext.schema.proto import Function, ModelDescription
    from miltext.schema.types import Shape


class SizedModel(NamedTuple):
    """A model whose program can be read and states the sizes, and notes about these."""

    model: Model
    notes: tuple[str, ...]


def sized(model: Model, shapes: Mapping[str, Sizes], function: str | None = None) -> SizedModel:
    """Return a model with the given shapes of inputs, in each function that has one of them or only in `function`.

    Other inputs with open sizes get their default shapes. The types follow as in `reshape`; a draft is completed first.
    Raise ModelError: MIL430 for an unknown input, MIL435 for a range, a shape of another rank, and an input without a
    shape; ParseError as `reshape` does.
    """
    whole = completed(model)
    functions = whole.program.functions
    chosen = chosen_functions(functions, function, whole.name)
    _require_fixed(shapes, whole.name)
    require_inputs(shapes, {value.name for name in chosen for value in functions[name].inputs}, whole.name)
    text, notes = "", list[str]()
    for name in chosen:
        wanted = _wanted(functions[name], name, whole, shapes, notes)
        if wanted:
            found: list[Diagnostic] = []
            text = reshape(
                text or to_text(whole.program),
                wanted,
                function=name,
                path=whole.name,
                weights=whole.model_path,
                on_warning=found.append,
            )
            notes += [each.message for each in found if ATTRIBUTE not in each.message]
    return SizedModel(_with_text(whole, text) if text else whole, (*dict.fromkeys(notes),))


def _require_fixed(shapes: Mapping[str, Sizes], name: str) -> None:
    for value, sizes in shapes.items():
        if not all(size.is_fixed for size in sizes):
            message = (
                f"`{value}={spell_sizes(sizes)}` are ranges of sizes: a cost follows from one size for each dimension"
            )
            raise refusal(codes.IMPOSSIBLE_SIZES, message, name)


def _wanted(
    function: Function, name: str, whole: Model, shapes: Mapping[str, Sizes], notes: list[str]
) -> dict[str, Sizes]:
    """Return the shapes that a function does not state yet, and add notes about those that its description refuses."""
    found: dict[str, Sizes] = {}
    features = _features(whole.description, function, name)
    for value, declared in _declared(function):
        feature = features.get(value, NOTHING_SAID)
        given = shapes.get(value)
        shape = shape_of(given) if given is not None else feature.default if None in declared else declared
        if shape is None:
            message = f"the input {named(value)} of {named(name)} has open sizes, {show(declared)}"
            way = f'give its sizes by `shapes={{"{value}": SIZES}}`'
            raise refusal(codes.IMPOSSIBLE_SIZES, message, whole.name, Note(way))
        if len(shape) == len(declared) and not feature.allows(tuple(size or 0 for size in shape)):
            allowed = feature.shapes(declared)
            notes.append(f"{named(value)} is {show(shape)}, which the description does not allow: it allows {allowed}")
        if shape != declared:
            found[value] = tuple(Size(size or 0, size) for size in shape)
    return found


def _features(description: ModelDescription | None, function: Function, name: str) -> dict[str, Feature]:
    information = function.attributes.get(ATTRIBUTE, None)
    return features_of(description, name, information, dict(_declared(function)))


def _declared(function: Function) -> Iterator[tuple[str, Shape]]:
    """Yield the inputs and states of tensors, with their shapes."""
    for value in function.inputs:
        kind = read_type(value.type)
        held = kind.wrapped if isinstance(kind, StateType) else kind
        if isinstance(held, TensorType):
            yield value.name, held.shape


def _with_text(whole: Model, text: str) -> TextModel:
    model = TextModel(text.encode(), whole.name, None)
    model.model_path, model.keeps = whole.model_path, (whole, whole.keeps)
    return model
