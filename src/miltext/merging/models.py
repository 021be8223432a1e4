"""Three versions of a model made one: its program, what stands around that, and its weights.

Programs are merged as texts in which a weight has the same place wherever it holds the same. In the end, each weight
gets its place in the weight file that the merge leaves.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import ModelError, error
from miltext.merging.contents import (
    Contents,
    Unplaced,
    file_for,
    placed_in,
    programs_of,
    replaced,
    weight_files,
    written_anew,
)
from miltext.merging.judging import new_errors
from miltext.merging.merging import Merged, merge_texts
from miltext.merging.messages import Clash, merge_messages
from miltext.merging.stages import Stages, StageTriple
from miltext.models.building.new_model import ml_programs, models_with_programs
from miltext.models.contents import pipeline_of, shell
from miltext.models.model_weights import resolve
from miltext.models.pipelines.faults import faults, faults_in
from miltext.parsing.parser import parse
from miltext.printing.printing import to_text
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.wire import wire_of
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.diagnostics import Diagnostic
    from miltext.merging.conflicts import Markers
    from miltext.models.model import Model
    from miltext.schema.proto import Program


class Kept(NamedTuple):
    """What is settled before a merge: whose model file it is to be, and whose weight file each is to be.

    0 is the base, 1 ours, 2 theirs; None is for what may be written anew.
    """

    model: int | None = None
    weights: dict[str, int] = {}


class MergedModel(NamedTuple):
    """What came of a merge: the text, with markers around what is in conflict, the description as comments; the model.

    `conflicts` say in words what cannot be merged, `errors` what is wrong that was wrong on neither side. If there are
    any, the model is ours, with its weights where they are in the files that are kept; None if they are not there.
    """

    text: str
    model: Spec | None
    conflicts: Sequence[str] = ()
    errors: Sequence[Diagnostic] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all was merged."""
        return not (self.conflicts or self.errors)


def merge_models(
    base: Model,
    ours: Model,
    theirs: Model,
    folder: Path,
    markers: Markers,
    kept: Kept | None = None,
    *,
    check: bool = True,
) -> MergedModel:
    """Merge what two versions of a model changed of a third; write new weight files into a folder.

    A pipeline is merged model by model, ML Programs operation by operation, and all else field by field; what the
    schema does not know, such as the layers of a neural network, is one thing that one side may change. Errors that
    neither side has are looked for unless `check` is false. Raise WeightsError for weights that cannot be read.
    """
    return _Merge(base, ours, theirs, kept or Kept()).run(folder, markers, check)


class _Text(NamedTuple):
    """The merged text of a program, those of both sides, and the line that says which model of a pipeline it is of."""

    heading: str
    merged: Merged
    ours: str
    theirs: str


class _Merge:
    """A merge of three models; `clashes`, and the `texts` of their programs, grow."""

    def __init__(self, base: Model, ours: Model, theirs: Model, kept: Kept) -> None:
        self._models = (base, ours, theirs)
        self._kept = kept
        self._contents = Contents()
        self._programs: dict[Model, Program] = {}
        for model in (ours, base, theirs):
            self._programs |= self._contents.named_anew([stage.model for stage in model.programs()])
        self._clashes: list[Clash] = []
        self._texts: list[_Text] = []

    def run(self, folder: Path, markers: Markers, check: bool) -> MergedModel:
        spec = self._model(StageTriple(*self._models), "", markers)
        conflicts = [f"both sides changed `{clash.place}`" for clash in self._clashes]
        if number := sum(each.merged.conflicts for each in self._texts):
            conflicts.insert(0, f"both sides changed {'an operation' if number == 1 else f'{number} operations'}")
        if conflicts:
            return MergedModel(self._told(markers), self._ours(), conflicts)
        text, errors = self._errors(spec) if check else ("", [])
        try:
            self._place([*ml_programs(spec)], folder)
        except Unplaced as failure:
            return MergedModel(text, self._ours(), [str(failure)], errors)
        if errors:
            return MergedModel(text, self._ours(), ["neither side has these errors"], errors)
        return MergedModel(text, spec)

    def _told(self, markers: Markers) -> str:
        """Return what is in conflict: of the description as comments, and texts of programs."""
        is_pipeline = self._models[1].is_pipeline
        texts = [each for each in self._texts if each.merged.conflicts or not is_pipeline]
        pieces = [piece for each in texts for piece in (each.heading, each.merged.text)]
        return markers.text([*(clash.conflict for clash in self._clashes), *pieces])

    def _errors(self, spec: Spec) -> tuple[str, list[Diagnostic]]:
        """Return the errors that neither side has, and the text that they are in: those of one text at a time."""
        for each in self._texts:
            if found := new_errors(each.merged.text, each.ours, each.theirs):
                return each.merged.text, found
        known = {fault.tells for side in self._models[1:] for fault in faults_in(side)}
        new = [error(fault.code, fault.message) for fault in faults(spec) if fault.tells not in known]
        return "".join(each.merged.text for each in self._texts[:1]), new

    def _ours(self) -> Spec | None:
        """Return our model, with its weights where they are in the files that are kept."""
        spec = self._whole(self._models[1])
        programs = [*ml_programs(spec)]
        try:
            for name in weight_files(programs):
                side = self._models[self._kept.weights.get(name, 1)]
                placed_in(programs, self._contents, _folder(side), name)
        except (Unplaced, ModelError):
            return None
        return spec

    def _whole(self, model: Model) -> Spec:
        """Return a model of one side, in whose programs weights have the places of their contents."""
        made = Spec()
        made.CopyFrom(_spec(model))
        for each, stage in zip(models_with_programs(made), model.programs(), strict=True):
            each.mlProgram.CopyFrom(self._programs[stage.model])
        return made

    # ---- models

    def _model(self, triple: StageTriple, place: str, markers: Markers) -> Spec:
        """Return a merged model; `place` is what its clashes begin with."""
        base, ours, theirs = triple
        assert ours is not None
        assert theirs is not None
        types = [None if each is None else each.type for each in triple]
        if ours.type != theirs.type or base is None or base.type != ours.type:
            return self._of_other_kinds(triple, Clash(f"{place}type", types))
        shells = [shell(_spec(each)) for each in (base, ours, theirs)]
        spec = shells[1]
        self._clashes += [
            each._replace(place=f"{place}{each.place}") for each in merge_messages(shells[0], spec, shells[2])
        ]
        if ours.type == PROGRAM:
            spec.mlProgram.CopyFrom(self._program(base, ours, theirs, place, markers))
        elif ours.is_pipeline:
            self._pipeline(spec, Stages(base, ours, theirs), place, markers)
        return spec

    def _of_other_kinds(self, triple: StageTriple, clash: Clash) -> Spec:
        """Return the version of a model that one side changed, where they are not of one kind or have no base."""
        wholes = [Spec() if each is None else self._whole(each) for each in triple]
        wires = [wire_of(each) for each in wholes]
        if wires[2] not in wires[:2] and wires[0] != wires[1]:
            self._clashes.append(clash)
        return wholes[2] if wires[0] == wires[1] else wholes[1]

    def _program(self, base: Model, ours: Model, theirs: Model, place: str, markers: Markers) -> Program:
        """Return the merged program of a model; ours where it has conflicts."""
        programs = [self._programs[each] for each in (base, ours, theirs)]
        texts = [to_text(each) for each in programs]
        wires = [wire_of(each) for each in programs]
        if wires[2] in wires[:2] or wires[0] == wires[1]:
            side = 2 if wires[0] == wires[1] else 1
            merged, program = Merged(texts[side], 0), programs[side]
        else:
            merged = merge_texts(texts[0], texts[1], texts[2], markers)
            program = programs[1] if merged.conflicts else parse(merged.text)
        heading = f"// {place.removesuffix(': ')}\n" if place else ""
        self._texts.append(_Text(heading, merged, texts[1], texts[2]))
        return program

    # ---- pipelines

    def _pipeline(self, spec: Spec, stages: Stages, place: str, markers: Markers) -> None:
        """Put the merged models of a pipeline into it, with their names."""
        pipeline = pipeline_of(spec, spec.WhichOneof("Type"))
        assert pipeline is not None
        if stages.is_replaced:
            self._clashes.append(Clash(f"{place}models", stages.listed()))
        kept = list[tuple[StageTriple, str]]()
        for triple in stages:
            title = f"{place}model {quote(triple.name) if triple.name else len(kept)}: "
            made = self._stage(triple, title, markers)
            if made is not None:
                pipeline.models.append(made)
                kept.append((triple, self._name(triple, title)))
        pipeline.names.extend(stages.names(kept))

    def _stage(self, triple: StageTriple, place: str, markers: Markers) -> Spec | None:
        """Return a merged model of a pipeline; None for one that a side took away, and the other did not change."""
        if triple.ours is not None and triple.theirs is not None:
            return self._model(triple, place, markers)
        left = triple.ours or triple.theirs
        assert left is not None
        whole = self._whole(left)
        if triple.base is None:
            return whole
        if wire_of(whole) != wire_of(self._whole(triple.base)):
            self._clashes.append(
                Clash(place.removesuffix(": "), [None if each is None else each.type for each in triple])
            )
        return None

    def _name(self, triple: StageTriple, place: str) -> str:
        """Return the name of a model in the end."""
        before, mine, other = (None if each is None else each.pipeline_name for each in triple)
        if mine is None or other is None:
            return mine or other or ""
        if mine != other and before not in (mine, other):
            self._clashes.append(Clash(f"{place}name", [before, mine, other]))
        return other if before == mine else mine

    # ---- weights

    def _place(self, programs: Sequence[Program], folder: Path) -> None:
        """Give the weights of the merged programs their places. Raise Unplaced."""
        for name in weight_files(programs):
            settled = self._kept.weights.get(name)
            if settled is not None and self._kept.model is None:
                placed_in(programs, self._contents, _folder(self._models[settled]), name)
            elif settled is None and self._kept.model is not None:
                side = self._models[self._kept.model]
                replaced(programs_of(side), programs, self._contents, _folder(side), folder, name)
            elif settled is None and not self._is_in_one(programs, folder, name):
                written_anew(programs, self._contents, folder, name)

    def _is_in_one(self, programs: Sequence[Program], folder: Path, name: str) -> bool:
        """Whether the file of one side has all the weights: then it is copied, and they have their places there."""
        for side in self._models[1:]:
            with suppress(Unplaced, ModelError):
                placed_in(programs, self._contents, _folder(side), name)
                copyfile(resolve(name, _folder(side)), file_for(name, folder))
                return True
        return False


def _spec(model: Model) -> Spec:
    assert model.spec is not None
    return model.spec


def _folder(model: Model) -> Path:
    assert model.model_path is not None
    return model.model_path
