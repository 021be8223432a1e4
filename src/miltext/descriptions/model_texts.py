"""The description of a model as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from miltext.descriptions.labels import labels_of
from miltext.descriptions.reading import read_description
from miltext.descriptions.spelling import spell
from miltext.descriptions.surroundings import Surroundings, head_of
from miltext.descriptions.words import FUNCTIONS, LABELS, MODEL, SIDES, STAGES
from miltext.diagnostics import ModelError, Note, codes, refusing
from miltext.files.contents import read_file
from miltext.files.refusals import refusal
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.toml.reading import NotToml, read_toml
from miltext.toml.updating import updated
from miltext.toml.writing import write_toml

if TYPE_CHECKING:
    from miltext.descriptions.surroundings import Labels
    from miltext.models.model import Model
    from miltext.schema.proto import Program


KEYS = {*MODEL, *SIDES, FUNCTIONS, STAGES, LABELS, "metadata"}
"""Keys of descriptions: every non-empty description has at least one."""

WAY_OUT = "name a file in TOML, as `miltext describe MODEL -o model.toml` writes it; it is not read from standard input"
IS_TEXT = "this is the text of a description, not the name of its file"
"""The message for an unreadable description."""

HEADER = """\
# The parts of a Core ML model around its program; docs/description.md explains each key.
# A model is built with it: miltext build MODEL --description THIS.toml -o New.mlpackage
"""


def description_text(model: Model) -> str:
    """Return the surroundings of a model's program as TOML; for a program by itself, inferred from its types.

    Raise ParseError for an unreadable program if it is needed, and ModelError as `building.build` does for a program
    that cannot be described.
    """
    return HEADER + write_toml(spell(surroundings_of(model)))


def updated_description(model: Model, text: str, path: str) -> str:
    """Return the text of a description, from the file `path`, updated to a model; comments are kept.

    Raise ModelError, besides as `description_text` does: MIL470 to MIL475 for mistakes in the text, and MIL402 for
    another kind of text, or for a spelling that cannot be kept.
    """
    if not is_description(text):
        raise refusal(codes.TARGET_WOULD_BE_LOST, "the target is not a description, and is not replaced", path)
    read_description(text, path)
    if not text.strip():
        return description_text(model)
    made = updated(text, spell(surroundings_of(model)))
    if made is None:
        raise refusal(
            codes.TARGET_WOULD_BE_LOST,
            "this description is laid out in a way that cannot be updated, and is kept",
            path,
        )
    return made


def text_of(path: Path) -> str:
    """Return the text of a description's file. Raise ModelError: MIL250, MIL252, or MIL470 for its bytes."""
    try:
        data = read_file(path)
    except ModelError as failure:
        raise _unread(failure, path) from failure
    with refusing(lambda _: refusal(codes.UNREADABLE_DESCRIPTION, "this is not UTF-8 text", path)):
        return data.decode("utf-8-sig")


def _unread(failure: ModelError, path: Path) -> ModelError:
    """Return an error with the way out for an unreadable description, which may be a text in place of a file name."""
    found = failure.diagnostics[0]
    if found.code == codes.UNREADABLE_FILE:
        message, name = (IS_TEXT, None) if "\n" in str(path) else (found.message, failure.path)
        return ModelError([found._replace(message=message, notes=(Note(WAY_OUT),))], path=name)
    return failure


def is_description(text: str) -> bool:
    """Return whether a text in TOML may be a description, by its keys; invalid TOML is reported later, by the
    reader.
    """
    try:
        table = read_toml(text)
    except NotToml:
        return True
    return not table or bool(KEYS & {*table})


def surroundings_of(model: Model, at: tuple[str | int, ...] = ()) -> Surroundings:
    """Return the surroundings of the program of a model. Raise as `description_text` does."""
    around = Surroundings(_head(model), model.type, at=at)
    if at:
        around.name = model.pipeline_name or None
    if model.type == PROGRAM and _is_classifier(model, around.head):
        around.labels = described_labels(model.program, around.head)
    around.stages = [surroundings_of(each, (*at, "model", index)) for index, each in enumerate(model.models)]
    return around


def described_labels(program: Program, head: Spec) -> dict[str, Labels]:
    """Return the labels of a program by the function names of `Surroundings`."""
    labels = labels_of(program)
    listed = {function.name for function in head.description.functions}
    if listed:
        return {name: found for name, found in labels.items() if name in listed}
    return {"": next(iter(labels.values()))} if labels and len(program.functions) == 1 else {}


def _head(model: Model) -> Spec:
    """Return the head of a model, or one made from the types as in `build`."""
    if model.spec is not None:
        return head_of(model.spec)
    if model.description is None and model.type == PROGRAM:
        from miltext.descriptions.program_descriptions import own_head

        return own_head(model.program, version=model.specification_version)
    return Spec(specificationVersion=model.specification_version or 0, description=model.description)


def _is_classifier(model: Model, head: Spec) -> bool:
    """Return whether a model may have labels; this avoids reading the long text of a compiled model without labels."""
    if not model.is_compiled or "program" in vars(model):
        return True
    described = head.description
    named = [described.predictedFeatureName, *(each.predictedFeatureName for each in described.functions)]
    return any(named)
