"""The merge of three versions of a model: its program, the parts around it, and its weights.

Programs are merged as texts with the same place for weights with equal contents. At the end, each weight gets its place
in the merged weight file.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.new_model import ml_programs, models_with_programs
from miltext.containers.spec import SpecModel
from miltext.diagnostics import ModelError, error
from miltext.files.contents import pipeline_of, shell
from miltext.merging.conflicts import Markers
from miltext.merging.contents import (
    Unplaced,
    WeightContents,
    file_for,
    placed_in,
    programs_of,
    replaced,
    require_fit,
    weight_files,
    written_anew,
)
from miltext.merging.decisions import UndecidedSide, programs_in, side_taken
from miltext.merging.judging import new_contradictions, new_errors
from miltext.merging.merging import Merged, merge_texts
from miltext.merging.messages import Clash, merge_messages
from miltext.merging.plans import OURS, THEIRS, chosen
from miltext.merging.stages import Stages, StageTriple
from miltext.parsing.parser import parse
from miltext.pipelines.faults import faults, faults_in
from miltext.printing.printing import to_text
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.wire import wire_of
from miltext.syntax.literals import quote
from miltext.weight_files.paths import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.diagnostics import Diagnostic
    from miltext.files.writing import Progress
    from miltext.models.model import Model
    from miltext.schema.proto import Program


class Kept(NamedTuple):
    """Decisions before a merge: the version of the model file, and of each weight file.

    0 is the base, 1 ours, 2 theirs; None allows a new file.
    """

    model: int | None = None
    weights: dict[str, int] = {}


class MergedModel(NamedTuple):
    """The result of a merge: the text, with markers around conflicts, the description as comments; the model.

    `conflicts` are messages about the parts that cannot be merged, `errors` the errors that neither side has. With
    errors or conflicts, the model is that of the `side` whose weights are all in the kept files; ours if both are, None
    if neither is.
    """

    text: str
    model: Spec | None
    conflicts: Sequence[str] = ()
    errors: Sequence[Diagnostic] = ()
    side: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the merge has no conflicts and no errors."""
        return not (self.conflicts or self.errors)


def merge_models(
    base: Model | None,
    ours: Model,
    theirs: Model,
    folder: Path,
    markers: Markers,
    kept: Kept | None = None,
    *,
    check: bool = True,
    progress: Progress | None = None,
) -> MergedModel:
    """Merge the changes of two versions of a model since a third; write new weight files into a folder.

    A pipeline is merged model by model, an ML Program operation by operation, and other parts field by field. Data
    unknown to the schema, such as the layers of a neural network, is merged as a whole. Without a base, both sides
    added the model: their common parts by name are merged. Errors that neither side has are found unless `check` is
    false. Raise WeightsError for weights that cannot be read.
    """
    return _ModelMerge(base, ours, theirs, kept or Kept(), progress).run(folder, markers, check)


def resolve_models(base: Model | None, ours: Model, theirs: Model, folder: Path, text: str) -> MergedModel:
    """Return the model of a text with resolved conflicts; write its weight files into a folder.

    If both sides changed the description, the remaining comments of the merge determine the side. In the text of a
    pipeline, comments also name the model of each program. Raise ParseError, ModelError and WeightsError.
    """
    return _ModelMerge(base, ours, theirs, Kept()).resolved(folder, text)


class _Text(NamedTuple):
    """The merged text of a program, the texts of both sides, and the line that names its model in a pipeline."""

    heading: str
    merged: Merged
    ours: str
    theirs: str
    model: Model

    @property
    def line(self) -> str:
        """The heading without white space at its ends, for comparisons."""
        return self.heading.strip()


class _ModelMerge:
    """A merge of three models; `clashes`, and the `texts` of their programs, grow. `given` are resolved texts of
    programs, by the models of both sides.
    """

    def __init__(
        self, base: Model | None, ours: Model, theirs: Model, kept: Kept, progress: Progress | None = None
    ) -> None:
        self._models: StageTriple = StageTriple(base, ours, theirs)
        self._kept = kept
        self._contents = WeightContents(progress)
        self._programs: dict[Model, Program] = {}
        for model in (ours, base, theirs):
            if model is not None:
                self._programs |= self._contents.named_anew([stage.model for stage in model.programs()])
        self._clashes: list[Clash] = []
        self._texts: list[_Text] = []
        self._given: dict[Model, str] = {}

    def _side(self, number: int) -> Model:
        """Return the base (0), ours (1) or theirs (2)."""
        model = self._models[number]
        assert model is not None  # nothing is taken of a missing base
        return model

    def resolved(self, folder: Path, text: str) -> MergedModel:
        """Merge as `run` does, with the decisions of a text on all conflicts."""
        self._model(self._models, "", Markers())
        try:
            side = side_taken(text, self._clashes)
            in_conflict = [each.line for each in self._texts if each.merged.conflicts]
            programs = programs_in(text, [each.line for each in self._texts], in_conflict)
        except UndecidedSide as failure:
            return MergedModel(text, None, [str(failure)])
        self._given = {each.model: programs[each.line] for each in self._texts if each.line in programs}
        if side == THEIRS:
            self._models = StageTriple(self._models.base, self._models.theirs, self._models.ours)
        self._clashes, self._texts = [], []
        spec = self._model(self._models, "", Markers())
        text, errors = self._errors(spec)
        try:
            self._place([*ml_programs(spec)], folder)
        except Unplaced as failure:
            return MergedModel(text, None, [str(failure)], errors)
        if errors:
            return MergedModel(text, None, ["neither side has these errors"], errors)
        return MergedModel(text, spec)

    def run(self, folder: Path, markers: Markers, check: bool) -> MergedModel:
        spec = self._model(self._models, "", markers)
        conflicts = [f"both sides changed `{clash.place}`" for clash in self._clashes]
        if number := sum(each.merged.conflicts for each in self._texts):
            conflicts.insert(0, f"both sides changed {'an operation' if number == 1 else f'{number} operations'}")
        if conflicts:
            return self._kept_whole(self._told(markers), conflicts)
        text, errors = self._errors(spec) if check else (self._all(), [])
        try:
            self._place([*ml_programs(spec)], folder)
        except Unplaced as failure:
            return self._kept_whole(text, [str(failure)], errors)
        if errors:
            return self._kept_whole(text, ["neither side has these errors"], errors)
        return MergedModel(text, spec)

    def _all(self) -> str:
        """Return the texts of all programs, each below its heading."""
        return Markers().text([piece for each in self._texts for piece in (each.heading, each.merged.text)])

    def _told(self, markers: Markers) -> str:
        """Return the conflicts: the description's as comments, and the texts of programs."""
        is_pipeline = self._side(1).is_pipeline
        texts = [each for each in self._texts if each.merged.conflicts or not is_pipeline]
        pieces = [piece for each in texts for piece in (each.heading, each.merged.text)]
        return markers.text([*(clash.conflict for clash in self._clashes), *pieces])

    def _errors(self, spec: Spec) -> tuple[str, list[Diagnostic]]:
        """Return the errors that neither side has in the first text with any, and this text; otherwise in the model."""
        for each in self._texts:
            text = f"{each.heading}{each.merged.text}"
            if found := new_errors(text, each.ours, each.theirs):
                return text, found
        known = {fault.identity for side in (1, 2) for fault in faults_in(self._side(side))}
        found = [error(fault.code, fault.message) for fault in faults(spec) if fault.identity not in known]
        merged = SpecModel("mlmodel", self._side(1).name, None, None, spec)
        return self._all(), [*found, *new_contradictions(merged, self._side(1), self._side(2))]

    def _kept_whole(self, text: str, conflicts: Sequence[str], errors: Sequence[Diagnostic] = ()) -> MergedModel:
        """Return a merge with conflicts, and the model of a side whose weights are all in the kept files, if any."""
        for side in (1, 2):
            with suppress(Unplaced, ModelError):
                return MergedModel(text, self._with_kept_weights(side), conflicts, errors, side)
        return MergedModel(text, None, conflicts, errors)

    def _with_kept_weights(self, side: int) -> Spec:
        """Return the model of a side, with its weights at their places in the kept files. Raise Unplaced."""
        spec = self._whole(self._side(side))
        programs = [*ml_programs(spec)]
        for name in weight_files(programs):
            placed_in(programs, self._contents, _folder(self._side(self._kept.weights.get(name, 1))), name)
        return spec

    def _whole(self, model: Model) -> Spec:
        """Return the model of one side, with each weight at the place of its contents."""
        made = Spec()
        made.CopyFrom(_spec(model))
        for each, stage in zip(models_with_programs(made), model.programs(), strict=True):
            each.mlProgram.CopyFrom(self._programs[stage.model])
        return made

    # ---- models

    def _model(self, triple: StageTriple, place: str, markers: Markers) -> Spec:
        """Return a merged model; `place` is the prefix of its clashes. Without a base, both sides added it."""
        base, ours, theirs = triple
        assert ours is not None
        assert theirs is not None
        types = [None if each is None else each.type for each in triple]
        if ours.type != theirs.type or (base is not None and base.type != ours.type):
            return self._of_other_kinds(triple, Clash(f"{place}type", types))
        shells = [Spec() if each is None else shell(_spec(each)) for each in triple]
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
        """Return the version that one side changed, of models of different kinds."""
        wholes = [Spec() if each is None else self._whole(each) for each in triple]
        wires = [wire_of(each) for each in wholes]
        side = chosen(wires)
        if side is None:
            self._clashes.append(clash)
        return wholes[side or OURS]

    def _program(self, base: Model | None, ours: Model, theirs: Model, place: str, markers: Markers) -> Program:
        """Return the merged program of a model, or ours if there are conflicts."""
        before, mine, other = (None if each is None else self._programs[each] for each in (base, ours, theirs))
        assert mine is not None
        assert other is not None
        texts = ["" if each is None else to_text(each) for each in (before, mine, other)]
        wires = [None if each is None else wire_of(each) for each in (before, mine, other)]
        heading = f"// {place.removesuffix(': ')}\n" if place else ""
        given = self._given.get(ours, self._given.get(theirs))
        if given is not None:
            heading, merged, program = "", Merged(given, 0), parse(given)
        elif side := chosen(wires):
            merged, program = Merged(texts[side], 0), mine if side == OURS else other
        else:
            merged = merge_texts(texts[0], texts[1], texts[2], markers)
            program = mine if merged.conflicts else parse(merged.text)
        self._texts.append(_Text(heading, merged, texts[1], texts[2], ours))
        return program

    # ---- pipelines

    def _pipeline(self, spec: Spec, stages: Stages, place: str, markers: Markers) -> None:
        """Put the merged models of a pipeline into it, with their names."""
        pipeline = pipeline_of(spec, spec.WhichOneof("Type"))
        assert pipeline is not None
        if stages.is_replaced:
            self._clashes.append(Clash(f"{place}models", stages.listed()))
        kept = list[tuple[StageTriple, str]]()
        names = Counter(triple.name for triple in stages)
        for triple in stages:
            is_known = triple.name and names[triple.name] == 1
            title = f"{place}model {quote(triple.name) if is_known else len(kept)}: "
            made = self._stage(triple, title, markers)
            if made is not None:
                pipeline.models.append(made)
                kept.append((triple, self._name(triple, title)))
        pipeline.names.extend(stages.names(kept))

    def _stage(self, triple: StageTriple, place: str, markers: Markers) -> Spec | None:
        """Return a merged model of a pipeline; None for a model that a side removed, and the other did not change."""
        if triple.ours is not None and triple.theirs is not None:
            return self._model(triple, place, markers)
        left = triple.ours or triple.theirs
        assert left is not None
        whole = self._whole(left)
        if triple.base is None:
            return whole
        if wire_of(whole) == wire_of(self._whole(triple.base)):
            return None
        types = [None if each is None else each.type for each in triple]
        self._clashes.append(Clash(place.removesuffix(": "), types))
        return None if triple.ours is None else whole

    def _name(self, triple: StageTriple, place: str) -> str:
        """Return the final name of a model."""
        before, mine, other = (None if each is None else each.pipeline_name for each in triple)
        if mine is None or other is None:
            return mine or other or ""
        side = chosen((before, mine, other))
        if side is None:
            self._clashes.append(Clash(f"{place}name", [before, mine, other]))
        return other if side == THEIRS else mine

    # ---- weights

    def _place(self, programs: Sequence[Program], folder: Path) -> None:
        """Give the weights of the merged programs their places. Raise Unplaced."""
        for name in weight_files(programs):
            settled = self._kept.weights.get(name)
            if settled is not None and self._kept.model is None:
                placed_in(programs, self._contents, _folder(self._side(settled)), name)
            elif settled is None and self._kept.model is not None:
                side = self._side(self._kept.model)
                replaced(programs_of(side), programs, self._contents, _folder(side), folder, name)
            elif settled is None and not self._is_in_one(programs, folder, name):
                written_anew(programs, self._contents, folder, name)
        self._require_fit(programs, folder)

    def _require_fit(self, merged: Sequence[Program], folder: Path) -> None:
        """Raise Unplaced for a weight of the final programs that does not fit its final weight file.

        git may take the model or a weight file of one side.
        """
        programs = merged if self._kept.model is None else programs_of(self._side(self._kept.model))
        for name in weight_files(programs):
            side = self._kept.weights.get(name)
            require_fit(programs, folder if side is None else _folder(self._side(side)), name)

    def _is_in_one(self, programs: Sequence[Program], folder: Path, name: str) -> bool:
        """Return whether the file of one side contains all weights. It is then copied, and they keep their places."""
        for side in (self._side(1), self._side(2)):
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
