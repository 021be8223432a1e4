"""Comparison of two models or programs by structure: `diff` returns a Difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from miltext.containers.sources import Source, model_of, require_source
from miltext.diagnostics.arguments import checked
from miltext.diffing.difference import Difference
from miltext.diffing.pipelines import compare_others, compare_pipelines
from miltext.diffing.programs import DiffSide, How, changes_around, compare_programs
from miltext.drafting.programs import completed
from miltext.models.model import Model, Stage
from miltext.schema.proto import Message
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.stamps import BUILD_INFO

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from miltext.diagnostics.dynamic import Fields
    from miltext.evaluation.comparing.comparison import Comparison

__all__ = ["Difference", "diff"]


@checked()
def diff(
    old: Source,
    new: Source,
    *,
    build_info: bool = False,
    ignore_weights: bool = False,
    numbers: Comparison | None = None,
    progress: Callable[[int], object] | None = None,
) -> Difference:
    """Return the differences between two models: each is MIL text, a path, a Program or a Model.

    Operations are matched by structure: a renamed value, independent operations in another order, and weights with
    other contents are reported as such. For an unreadable weight file, or a Program, whose folder is unknown, file
    name and offset are compared in place of the content, with a note. Without another difference, it is then unknown
    whether the two are the same, unless both are one file, or neither has a weight file and `ignore_weights` is set.

    Args:
        old: The model before.
        new: The model after.
        build_info: Whether to compare facts about the tools and the date of a model: the program's attribute
            `buildInfo`, and coremltools' entries in the metadata.
        ignore_weights: Whether to compare the places of weights, of two models without weight files.
        numbers: The comparison of the same two by `miltext.compare`: the difference then has a verdict about the
            outputs, and the ratios after each cause.
        progress: A function that gets the number of bytes of each weight compared.

    Returns:
        The difference, which is true if the models differ.

    Raises:
        ModelError: A model that cannot be read.
        ParseError: The text is not MIL text.
        PrintError: A Program with fields that the schema lacks.

    Example:
        report = miltext.diff("Old.mlpackage", "New.mlpackage").to_text()
    """
    _require_comparison(numbers)
    found = _found(old, new, How(build_info, ignore_weights, progress))
    return found if numbers is None else found.with_numbers(numbers)


def _require_comparison(numbers: object) -> None:
    if numbers is not None and not hasattr(numbers, "outputs"):
        raise TypeError(f"`numbers` of diff() must be a Comparison or None, not {type(numbers).__name__}")


def _found(old: Source, new: Source, how: How) -> Difference:
    """Return the differences, without numbers."""
    whole = [_opened(each) for each in (old, new)]
    a, b = whole
    if isinstance(a, Model) and isinstance(b, Model):
        if a.is_pipeline and b.is_pipeline:
            return _with_tools(compare_pipelines(a, b, how), whole, how)
        if a.type != b.type or not (_is_read(a) or _is_read(b)):
            return compare_others(Stage("", a), Stage("", b), how)
    sides = [_side(each, name) for each, name in zip(whole, ("old", "new"), strict=True)]
    return _with_tools(compare_programs(sides[0], sides[1], how), [each.model or each.source for each in sides], how)


def _with_tools(found: Difference, whole: Sequence[Model | Message], how: How) -> Difference:
    """Return a difference that knows whether facts about tools differ, if there are no other differences.

    A compiled model and its source always differ in them, which is not reported.
    """
    old, new = whole
    models = (old, new) if isinstance(old, Model) and isinstance(new, Model) else None
    if how.build_info or not found.same or (models and models[0].is_compiled != models[1].is_compiled):
        return found
    differ = [_stamp(each) for each in _programs(old)] != [_stamp(each) for each in _programs(new)]
    if models:
        differ = differ or bool(changes_around(*models, how._replace(build_info=True)))
    return replace(found, _left_out=differ)


def _programs(source: Model | Message) -> list[Message]:
    """Return the programs of a model, or a Program itself."""
    return [stage.model.program for stage in source.programs()] if isinstance(source, Model) else [source]


def _is_read(model: Model) -> bool:
    """Return whether it is an ML Program or a pipeline: models of all other kinds are compared as bytes."""
    return model.is_pipeline or model.type == PROGRAM


def _opened(source: Source) -> Model | Message:
    require_source(source)
    return source if isinstance(source, Message) else model_of(source)


def _side(source: Model | Message, name: str) -> DiffSide:
    """Return a side to compare. Raise ModelError for a model other than an ML Program."""
    if not isinstance(source, Model):
        return DiffSide(name, source, None)
    chosen = completed(source.select(None))
    return DiffSide(chosen.name, chosen if chosen.kind == "mil" else source, chosen)


def _stamp(program: Fields) -> bytes | None:
    """Return the facts about tools in a Program, as bytes: Programs may be of different pools."""
    attributes = program.attributes
    return attributes[BUILD_INFO].SerializeToString(deterministic=True) if BUILD_INFO in attributes else None
