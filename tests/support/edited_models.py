"""Models edited by the command, and what their descriptions lost: each lost fact with whether the command told it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple, TypeAlias

from support.description_facts import KINDS_WITH_STAGES, Facts, Moves, Owner, facts, lost
from support.model_checks import Reported
from support.new_findings import Subject, new_findings, original_findings, subject, whole
from support.program_edits import EDITS, HARMLESS, exposable, taken
from support.running import RUNNER
from support.told_changes import tells

import miltext
from miltext.cli import command
from miltext.diagnostics import codes
from miltext.schema.function_io import interface
from miltext.schema.proto import FunctionDescription, Model, ModelDescription, Program
from miltext.schema.types import TensorType, read_type

Call: TypeAlias = "tuple[list[object], list[Moves]]"
"""The arguments of a command that writes a model, and each of what may be meant by them."""


class Place(NamedTuple):
    """A function of a program, which is a stage of a model, or the model itself."""

    stage: str
    function: str

    @property
    def options(self) -> list[str]:
        return ["--model", self.stage] if self.stage else []


class Scene(NamedTuple):
    """A model to edit, the message that it was made of, and a folder for what is written."""

    source: Path
    before: Model
    folder: Path

    def program(self, place: Place) -> Program:
        """A copy of the program there."""
        return deepcopy(dict(programs(self.before))[place.stage])


class Outcome(NamedTuple):
    """What an edit came to: that it was refused; or what is lost, what is left dangling, and what was told.

    `found` are the findings of `check` in the new model that the original does not have; `given` is the input that the
    edit gives out.
    """

    refused: bool
    lost: Facts
    misfits: set[str]
    told: str
    found: Counter[Reported] = Counter()
    given: str = ""

    def wrong(self, edit: str) -> list[object]:
        """What should not be: what is lost in silence, or by an edit that is harmless, and what does not fit."""
        silent = [key for key, value in self.lost.items() if not tells(self.told, *key, value)]
        harmed = (
            [key for key in self.lost if key[1] != "specificationVersion"]
            if edit in {*HARMLESS, *VERBS} - {RESHAPED}
            else []
        )
        return [*silent, *harmed, *sorted(self.misfits), *self.unexpected(edit)]

    def unexpected(self, edit: str) -> list[Reported]:
        """Return the new findings, without one warning of the input that the edit returns unchanged."""
        deserved = Subject("warning", codes.INPUT_AS_OUTPUT, self.given)
        left = [*self.found.elements()]
        caused = [each for each in left if edit == GIVEN_OUT and subject(each) == deserved][:1]
        for each in caused:
            left.remove(each)
        return left


GIVEN_OUT = "give out an input"
"""The edit that returns an input unchanged, which the build warns of."""

RESIZED = (
    "another data type in",
    "another data type out",
    "rename and retype",
    "verb: reshape",
    "verb: convert-weights --to fp16",
    "verb: convert-weights --to fp32",
)
"""The edits that change sizes or data types, and so the messages that state them."""

# ---- a model


def message(model: Path) -> Model:
    """The Model message of a package or a file."""
    file = model if model.is_file() else model / "Data" / "com.apple.CoreML" / "model.mlmodel"
    return Model.FromString(file.read_bytes())


def stages(model: Model) -> list[Model]:
    """The models of a pipeline."""
    kind = model.WhichOneof("Type") or ""
    inner = getattr(model, kind) if kind in KINDS_WITH_STAGES else None
    return [] if inner is None else [*getattr(inner, "pipeline", inner).models]


def programs(model: Model, stage: str = "") -> Iterator[tuple[str, Program]]:
    """The ML Programs of a model, each with the way to it."""
    if model.WhichOneof("Type") == "mlProgram":
        yield stage, model.mlProgram
    for index, each in enumerate(stages(model)):
        yield from programs(each, f"{stage}/{index}".strip("/"))


def places(model: Model) -> list[Place]:
    """All functions of a model's programs."""
    return [Place(stage, function) for stage, program in programs(model) for function in sorted(program.functions)]


def misfits(model: Model, stage: str = "") -> set[str]:
    """Features that are described and are not there, that are there and not described, and that no stage gives."""
    found = {f"{stage} {each}" for each in _undescribed(model)}
    given = {each.name for each in model.description.input}
    for index, inner in enumerate(stages(model)):
        entries = _default(inner.description)
        found |= misfits(inner, f"{stage}/{index}".strip("/"))
        needed = {each.name for each in entries.input if not each.type.isOptional}
        found |= {f"{stage} {name}, which {index} takes" for name in needed - given}
        given |= {each.name for each in entries.output}
    outputs = {each.name for each in model.description.output} if stages(model) else set()
    return found | {f"{stage} {name}, which nobody gives" for name in outputs - given}


def _default(description: ModelDescription) -> ModelDescription | FunctionDescription:
    """What describes the function that a stage runs."""
    named = [each for each in description.functions if each.name == description.defaultFunctionName]
    return named[0] if named else description


def _undescribed(model: Model) -> set[str]:
    described = {each.name: each for each in model.description.functions}
    if not described and not model.description.input and not model.description.output:
        return set()  # some models say nothing of what they take
    found = set()
    for name, function in model.mlProgram.functions.items():
        entries = described.get(name, model.description)
        for side, names in interface(function).sides.items():
            found |= {f"{name} {each}" for each in {*names} ^ {entry.name for entry in getattr(entries, side)}}
    return found


# ---- edits


def outcome(scene: Scene, place: Place, edit: str) -> Outcome | None:
    """Edit a model so; None where it has nothing that could be edited so."""
    call = VERBS[edit](scene, place) if edit in VERBS else _built(scene, place, edit)
    if call is None:
        return None
    arguments, moves = call
    out = scene.folder / "New.mlpackage"
    result = RUNNER.invoke(command, [*map(str, arguments), "-o", str(out), "--force"])
    if result.exit_code:
        assert "error[MIL" in result.stderr, (arguments, result.stderr, result.exception)
        return Outcome(True, {}, set(), result.stderr)
    new = message(out)
    now, meant = facts(new), [*moves, *(each.through() for each in moves)]
    least = min((lost(facts(scene.before), now, each) for each in meant), key=len)
    known, alike = original_findings(scene.source), subject if edit in RESIZED else whole
    found = min((new_findings(known, out, each.word, alike) for each in meant), key=Counter.total)
    given = next((each.name for each in taken(scene.program(place), place.function)), "")
    return Outcome(False, least, misfits(new) - misfits(scene.before), result.stderr, found, given)


def _built(scene: Scene, place: Place, edit: str) -> Call | None:
    program = scene.program(place)
    moves = EDITS[edit](program, *place)
    if moves is None:
        return None
    text = scene.folder / "edited.mil"
    text.write_text(miltext.to_text(program), encoding="utf-8")
    return ["build", text, "--from", scene.source, *place.options], moves


# ---- verbs


def _rename(side: str) -> Callable[[Scene, Place], Call | None]:
    def call(scene: Scene, place: Place) -> Call | None:
        name = next(iter(interface(scene.program(place).functions[place.function]).sides[side]), None)
        if name is None:
            return None
        moves = Moves(entries={Owner(*place, side, name): "renamed"})
        return ["rename", scene.source, name, "renamed", "--function", place.function, *place.options], [moves]

    return call


def _expose(scene: Scene, place: Place) -> Call | None:
    inner = exposable(scene.program(place), place.function)
    if not inner:
        return None
    return ["expose", scene.source, inner[-1], "--function", place.function, *place.options], [Moves()]


def _printed(*options: str, anew: bool = False) -> Callable[[Scene, Place], Call]:
    """Build what another way of printing the program gives, with its types inferred `anew`, or as it is."""

    def call(scene: Scene, place: Place) -> Call:
        text, inferred = scene.folder / "printed.mil", scene.folder / "inferred.mil"
        text.unlink(missing_ok=True)
        _run("print", scene.source, *place.options, *options, "-o", text)
        if anew:
            inferred.unlink(missing_ok=True)
            _run("infer", text, "--all", "-o", inferred)
        return ["build", inferred if anew else text, "--from", scene.source, *place.options], [Moves()]

    return call


def _whole(*options: str) -> Callable[[Scene, Place], Call]:
    """Build the model as it is."""
    return lambda scene, _: (["build", scene.source, *options], [Moves()])


def _described(scene: Scene, _: Place) -> Call:
    """Build the model with its own description, taken through a text."""
    text = scene.folder / "model.toml"
    text.unlink(missing_ok=True)
    _run("describe", scene.source, "-o", text)
    return ["build", scene.source, "--description", text], [Moves()]


def _converted(to: str) -> Callable[[Scene, Place], Call]:
    return lambda scene, place: (["convert-weights", scene.source, "--to", to, *place.options], [Moves()])


def _rename_through(scene: Scene, _: Place) -> Call | None:
    """Rename the first input of a pipeline."""
    if not stages(scene.before):
        return None
    name = scene.before.description.input[0].name
    return ["rename", scene.source, name, "renamed"], [Moves(entries={Owner("", "", "input", name): "renamed"})]


def _run(*arguments: object) -> None:
    result = RUNNER.invoke(command, [*map(str, arguments)])
    assert result.exit_code == 0, result.output


RESHAPED = "verb: reshape"
"""The only verb here that a description cannot stay as it was for."""


def _reshape(scene: Scene, place: Place) -> Call | None:
    """Make the first input twice as large along its last axes, as far as they are known and more than one."""
    inputs = interface(scene.program(place).functions[place.function]).inputs
    name = next(iter(inputs), "")
    known = read_type(kind) if (kind := inputs.get(name)) else None
    if not isinstance(known, TensorType) or not known.shape:
        return None
    sizes = ["2..10" if size is None else str(size * (1 + (axis > 1))) for axis, size in enumerate(known.shape)]
    return ["reshape", scene.source, f"{name}={','.join(sizes)}", "--function", place.function, *place.options], [
        Moves()
    ]


VERBS: dict[str, Callable[[Scene, Place], Call | None]] = {
    "verb: rename an input": _rename("input"),
    "verb: rename an output": _rename("output"),
    "verb: rename a state": _rename("state"),
    "verb: expose": _expose,
    RESHAPED: _reshape,
    "verb: print": _printed(),
    "verb: print --elide": _printed("--elide", "1"),
    "verb: print --draft": _printed("--draft"),
    "verb: print --draft --drop-names": _printed("--draft", "--drop-names"),
    "verb: infer --all": _printed(anew=True),
    "verb: rename through": _rename_through,
    "verb: describe": _described,
    "verb: build": _whole(),
    "verb: build --prune-weights": _whole("--prune-weights"),
    "verb: convert-weights --to fp16": _converted("fp16"),
    "verb: convert-weights --to fp32": _converted("fp32"),
}
ALL = [*EDITS, *VERBS]
