"""Models with the edits of a difference: their message, their programs and their weights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from miltext.applying.entries import EntryTable, edits_of, require_applicable
from miltext.applying.messages import edited_message
from miltext.applying.pipelines import edited_stages
from miltext.applying.programs import edited_program
from miltext.applying.refusing import lacking, not_applicable, other_model
from miltext.applying.weights import NewWeights, WeightSources, is_stored, without_folder
from miltext.building.new_model import ml_programs
from miltext.containers.programs import BareProgram
from miltext.containers.spec import SpecModel
from miltext.diffing.edits import OrderEdit, PartEdit
from miltext.files.contents import pipeline_of, shell
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.diffing.difference import Difference
    from miltext.diffing.lining_up import Texts
    from miltext.models.model import Model
    from miltext.schema.proto import Program, Value


def edited_model(difference: Difference, model: Model, weights_from: Model | None) -> Model:
    """Return a model with the edits of a Difference, and with a folder of its own for new weights.

    Raise ModelError as `miltext.apply` does.
    """
    if model.is_compiled:
        message = "only the compiler makes a compiled model: apply the difference to the model that it is made of"
        raise not_applicable(message, model.name)
    return _ModelEdits(model, weights_from).run(difference)


def edited_alone(difference: Difference, program: Program, name: str) -> Program:
    """Return a Program without a model with the edits of a Difference; new weights keep their places."""
    require_applicable(difference, name)
    edits, texts = [*edits_of(difference, name)], _texts(difference, name)

    def taken(value: Value) -> Value:
        if texts.new.contents.keeps is not None and is_stored(value):
            raise without_folder(value, name)
        return value

    return edited_program(program, texts, edits, taken, name)


def _texts(difference: Difference, name: str) -> Texts:
    if difference.texts is None:
        raise other_model("the difference is not between two programs", name)
    return difference.texts


class _ModelEdits:
    """The edits of a model, and of the models in it."""

    def __init__(self, model: Model, weights_from: Model | None) -> None:
        self._model = model
        self._sources = WeightSources(weights_from)
        self._weights = NewWeights(stage.model.program for stage in model.programs())

    def run(self, difference: Difference) -> Model:
        model = self._model
        if model.spec is None:
            require_applicable(difference, model.name)
            program = self._program(difference, model)
            return self._with_weights(BareProgram("pb", program, model.name, model.path), [program])
        spec = self._spec(difference, model)
        made = SpecModel(model.kind, model.name, model.path, model.model_path, spec, model.pipeline_name)
        made.overlays = model.overlays
        return self._with_weights(made, [*ml_programs(spec)])

    def _with_weights(self, made: Model, programs: list[Program]) -> Model:
        """Return a model whose folder has all weights of its programs."""
        made.model_path, made.keeps = self._model.model_path, self._model.keeps
        stored = self._weights.store(programs, self._model.model_path, self._sources, self._model.name)
        if stored is not None:
            made.model_path, made.keeps = Path(stored.name), stored
        return made

    def _program(self, difference: Difference, model: Model) -> Program:
        texts = _texts(difference, model.name)
        contents = texts.new.contents
        has_files = contents.has_files or texts.old.contents.has_files

        def taken(value: Value) -> Value:
            return self._weights.take(value, contents, has_files)

        return edited_program(model.program, texts, edits_of(difference, model.name), taken, model.name)

    def _spec(self, difference: Difference, model: Model) -> Spec:
        """Return the message of a model, with the edited models in it."""
        assert model.spec is not None, "it is not compiled, and has a description"
        require_applicable(difference, model.name)
        table = EntryTable(edits_of(difference, model.name))
        wire = edited_message(shell(model.spec), table.of(PartEdit), table.of(OrderEdit), model.name)
        made = Spec.FromString(wire)
        if model.type == PROGRAM:
            made.mlProgram.CopyFrom(self._program(difference, model))
        elif model.is_pipeline:
            self._pipeline(made, difference, model)
        elif difference.models or difference.functions:
            raise other_model(f"it is of the kind `{model.type}`", model.name)
        return made

    def _pipeline(self, made: Spec, difference: Difference, model: Model) -> None:
        if difference.texts is not None:
            raise other_model("it is a pipeline, but the difference is between two programs", model.name)
        pipeline = pipeline_of(made, model.type)
        if pipeline is None:
            raise lacking("the message of the pipeline is missing", model.name)
        stages, names = edited_stages(difference, model)
        for stage in stages:
            if stage.added is not None:
                pipeline.models.append(self._added(stage.added))
            else:
                assert stage.model is not None, "it is an old model or a new one"
                pipeline.models.append(self._stage(stage.difference, stage.model))
        pipeline.names.extend(names)

    def _stage(self, difference: Difference | None, model: Model) -> Spec:
        """Return the message of a model in the pipeline, the same without a difference."""
        assert model.spec is not None, "its pipeline is not compiled"
        return model.spec if difference is None else self._spec(difference, model)

    def _added(self, model: Model) -> Spec:
        """Return the message of a new model, with the weights of the new pipeline."""
        if model.spec is None:
            raise not_applicable("a compiled model is added to a pipeline that is not compiled", self._model.name)
        spec = Spec.FromString(model.spec.SerializeToString(deterministic=True))
        for program in ml_programs(spec):
            self._weights.take_all(program, model.model_path)
        return spec
