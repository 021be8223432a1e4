"""The text of Apple's compiler: a Program as the `model.mil` of its `.mlmodelc`.

Core ML's errors cite that text (`model.mil:7:12`), which only a Mac makes. All 72 known texts of the compiler agree
with this module; a warning reports parts of a description beyond these texts.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import Diagnostic, PrintError, codes, error, render, warning
from miltext.printing.flexible_shapes import ATTRIBUTE, say_the_same, shape_information
from miltext.printing.printer import Printer
from miltext.printing.tensors import Style
from miltext.schema.opsets import DIALECTS, plain_opset
from miltext.schema.proto import Function, ModelDescription, Program
from miltext.schema.stamps import BUILD_INFO
from miltext.schema.types import DictionaryType, write_type
from miltext.schema.value_builders import STRING, immediate, text_of
from miltext.schema.walk import own_opset, values
from miltext.syntax.literals import quote
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.schema.proto import FeatureDescription, Message, Value

LAST_OF_DIALECT_1_0 = 8
"""The last specification version whose models Apple's compiler writes in dialect 1.0."""

STRINGS = DictionaryType(STRING, STRING)


_VERSION = re.compile(r"[0-9]+(\.[0-9]+)*")
"""The form of the compiler's versions: 1436.100.10, 3600.16.1."""


class Versions(NamedTuple):
    """The two entries that the compiler adds to buildInfo; None for an unwanted entry."""

    component: str | None = None
    compiler: str | None = None

    def entries(self) -> dict[str, str]:
        """Return the wanted entries, by key. Raise PrintError (MIL215) for a text without the form of a version."""
        named = {"coremlc-component-MIL": self.component, "coremlc-version": self.compiler}
        asked = {key: version for key, version in named.items() if version is not None}
        for key, version in asked.items():
            if not _VERSION.fullmatch(version):
                message = f"{quote(version)} is not a version of Apple's compiler: write `{key}` as in 3600.25.1"
                raise PrintError([error(codes.UNKNOWN_COMPILER, message)])
        return asked


NEWEST = Versions("3600.16.1", "3600.25.1")
"""The versions of the newest known compiler."""


def as_coremlc(
    program: Message,
    specification_version: int = 9,
    description: Message | None = None,
    versions: Versions | None = None,
    on_warning: Callable[[Diagnostic], object] | None = None,
) -> str:
    """Return the `model.mil` that Apple's compiler would write for this Program.

    `specification_version` is the model's, and determines the dialect; `description` is its ModelDescription, the
    source of FlexibleShapeInformation. `versions` are the compiler's: by default the versions in the Program, or else
    the newest. Both messages may be of coremltools' classes. One warning lists the parts that the compiler drops,
    another the unproven ones; they go to `on_warning`, or to Python's warnings. Raise PrintError for a Program that
    Apple's syntax cannot express.
    """
    own = own_copy(program)
    dropped = _drop(own)
    doubts = _add_flexible_shapes(own, _own_description(description))
    _add_build_info(own, versions)
    for function in own.functions.values():
        function.inputs.sort(key=lambda value: value.name.encode())
    dialect = DIALECTS[specification_version > LAST_OF_DIALECT_1_0]
    text = "".join(Printer(Style(dialect, strict=True)).program(own))
    tell = on_warning or _warn
    if dropped:
        tell(warning(codes.LEFT_OUT_BY_COMPILER, f"Apple's compiler leaves this out: {', '.join(dropped)}"))
    if doubts:
        tell(
            warning(
                codes.UNPROVEN_OUTPUT,
                f"how Apple's compiler writes {ATTRIBUTE} is unproven here, and was never seen: {', '.join(doubts)}",
            )
        )
    return text


def unproven_shapes(program: Program, description: ModelDescription) -> list[str]:
    """Return the unproven facts of the attribute for flexible inputs in the text of a model."""
    made = [_information(description, name, program.functions[name]) for name in sorted(program.functions)]
    return [doubt for _, doubts in made for doubt in doubts]


def _drop(program: Program) -> list[str]:
    """Remove the parts of a Program that the compiler's text omits, and return a list of them."""
    dropped: list[str] = []
    if program.version != 1:
        dropped.append(f"Program.version {program.version}")
        program.version = 1
    if program.docString:
        dropped.append("the Program's docString")
        program.docString = ""
    for name in sorted(program.functions):
        dropped += _drop_opsets(name, program.functions[name])
    documented = [held.value for held in values(program) if held.value.docString]
    for value in documented:
        value.docString = ""
    return [*dropped, f"the docStrings of {len(documented)} Values"] if documented else dropped


def _drop_opsets(name: str, function: Function) -> list[str]:
    """Reduce a function to its own block, under the plain name of its opset; return a list of the removed parts."""
    blocks, plain = function.block_specializations, plain_opset(function.opset)
    own = own_opset(function.opset, blocks)
    if own is None or plain_opset(own) != plain:
        return []
    others = sorted({*blocks} - {own})
    odd = sorted({function.opset, own} - {plain})
    function.opset = plain
    if own != plain:
        blocks[plain].CopyFrom(blocks[own])
    for opset in {*blocks} - {plain}:
        del blocks[opset]
    dropped = [f"the block of `{name}` for {opset}" for opset in others]
    return [*dropped, *(f"the name {quote(opset)} for {plain} in `{name}`" for opset in odd)]


def _own_description(description: Message | None) -> ModelDescription:
    """Return a description of miltext's own class with the contents of a description of another copy of the schema."""
    if description is None:
        return ModelDescription()
    if description.DESCRIPTOR.full_name != ModelDescription.DESCRIPTOR.full_name:
        raise TypeError(f"expected a message {ModelDescription.DESCRIPTOR.full_name}, got {type(description).__name__}")
    return ModelDescription.FromString(description.SerializeToString())


def _add_flexible_shapes(program: Program, description: ModelDescription) -> list[str]:
    """Give each function with flexible inputs its attribute, and return the unproven facts about them."""
    doubts = []
    for name in sorted(program.functions):
        function = program.functions[name]
        information, unproven = _information(description, name, function)
        doubts += unproven
        if information is not None:
            function.attributes[ATTRIBUTE].CopyFrom(information)
    return doubts


def _information(description: ModelDescription, name: str, function: Function) -> tuple[Value | None, list[str]]:
    """Return the attribute of a function's flexible inputs; none if the function has the compiler's own."""
    if ATTRIBUTE in function.attributes:
        return None, []
    return shape_information(_features(description, name, function))


def says_what_is_described(attribute: Value, description: ModelDescription, name: str, function: Function) -> bool:
    """Return whether the attribute that the compiler made for a function matches the function's description."""
    made, _ = shape_information(_features(description, name, function))
    return made is not None and say_the_same(attribute, made)


def _features(description: ModelDescription, name: str, function: Function) -> list[FeatureDescription]:
    """Return the features of a function's inputs. A description lists functions if there may be several."""
    listed = [each.input for each in description.functions if each.name == name]
    features = listed[0] if listed else [] if description.functions else description.input
    parameters = {value.name for value in function.inputs}
    return [feature for feature in features if feature.name in parameters]


def _add_build_info(program: Program, versions: Versions | None) -> None:
    """Put the compiler's entries into buildInfo, and sort it by key."""
    if BUILD_INFO not in program.attributes:
        program.attributes[BUILD_INFO].CopyFrom(immediate(STRINGS, {}))
    info = program.attributes[BUILD_INFO]
    if info.type != write_type(STRINGS) or not info.immediateValue.HasField("dictionary"):
        message = (
            f"`{BUILD_INFO}` is not a dictionary of strings, which the compiler requires: remove it, or correct it"
        )
        raise PrintError([error(codes.WRONG_BUILD_INFO, message)])
    pairs = info.immediateValue.dictionary.values
    asked = (versions or Versions()).entries()
    for index in reversed(range(len(pairs))):
        if text_of(pairs[index].key) in asked:
            del pairs[index]
    present = {text_of(pair.key) for pair in pairs}
    entries = {**NEWEST.entries(), **asked}
    added = immediate(STRINGS, {key: text for key, text in entries.items() if key not in present})
    pairs.extend(added.immediateValue.dictionary.values)
    pairs.sort(key=lambda pair: text_of(pair.key).encode())


def _warn(diagnostic: Diagnostic) -> None:
    """Issue a warning of Python at the line that called miltext."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "miltext":
        level, frame = level + 1, frame.f_back
    warnings.warn(render(diagnostic), stacklevel=level)
