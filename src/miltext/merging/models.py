"""Three versions of a model made one: its program, what stands around that, and its weights.

Programs are merged as texts in which a weight has the same place wherever it holds the same. In the end, each weight
gets its place in the weight file that the merge leaves.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import ModelError
from miltext.merging.contents import Contents, Unplaced, file_for, placed_in, replaced, weight_files, written_anew
from miltext.merging.judging import new_errors
from miltext.merging.merging import merge_texts
from miltext.merging.messages import Clash, merge_messages
from miltext.models.model_weights import resolve
from miltext.parsing.parser import parse
from miltext.printing.printing import to_text
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.syntax.programs import own_copy

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
    """Merge what two versions of an ML Program changed of a third; write new weight files into a folder.

    Errors that neither side has are looked for unless `check` is false. Raise ModelError for what is not an ML Program,
    and WeightsError for weights that cannot be read.
    """
    return _Merge(base, ours, theirs, kept or Kept()).run(folder, markers, check)


class _Merge:
    def __init__(self, base: Model, ours: Model, theirs: Model, kept: Kept) -> None:
        self._models = (base, ours, theirs)
        self._kept = kept
        self._contents = Contents()
        named = {place: self._contents.named_anew(self._models[place]) for place in (1, 0, 2)}
        self._programs = (named[0], named[1], named[2])

    def run(self, folder: Path, markers: Markers, check: bool) -> MergedModel:
        texts = [to_text(program) for program in self._programs]
        merged = merge_texts(texts[0], texts[1], texts[2], markers)
        spec, clashes = self._around()
        conflicts = [f"both sides changed `{clash.place}`" for clash in clashes]
        if merged.conflicts:
            number = "an operation" if merged.conflicts == 1 else f"{merged.conflicts} operations"
            conflicts.insert(0, f"both sides changed {number}")
        if conflicts:
            text = markers.text([*(clash.conflict for clash in clashes), merged.text])
            return MergedModel(text, self._ours(), conflicts)
        program = parse(merged.text)
        errors = new_errors(merged.text, texts[1], texts[2]) if check else []
        try:
            self._place(program, folder)
        except Unplaced as failure:
            return MergedModel(merged.text, self._ours(), [str(failure)], errors)
        if errors:
            return MergedModel(merged.text, self._ours(), ["neither side has these errors"], errors)
        spec.mlProgram.CopyFrom(program)
        return MergedModel(merged.text, spec)

    def _ours(self) -> Spec | None:
        """Return our model, with its weights where they are in the files that are kept."""
        spec, program = Spec(), own_copy(self._programs[1])
        try:
            for name in weight_files(program):
                side = self._models[self._kept.weights.get(name, 1)]
                placed_in(program, self._contents, _folder(side), name)
        except (Unplaced, ModelError):
            return None
        spec.MergeFrom(_shell(self._models[1]))
        spec.mlProgram.CopyFrom(program)
        return spec

    def _around(self) -> tuple[Spec, list[Clash]]:
        """Return the merged model without its program, and the places that both sides changed."""
        shells = [_shell(model) for model in self._models]
        return shells[1], merge_messages(shells[0], shells[1], shells[2])

    def _place(self, program: Program, folder: Path) -> None:
        """Give the weights of the merged program their places. Raise Unplaced."""
        for name in weight_files(program):
            settled = self._kept.weights.get(name)
            if settled is not None and self._kept.model is None:
                placed_in(program, self._contents, _folder(self._models[settled]), name)
            elif settled is None and self._kept.model is not None:
                side = self._models[self._kept.model]
                replaced(side.program, program, self._contents, _folder(side), folder, name)
            elif settled is None and not self._is_in_one(program, folder, name):
                written_anew(program, self._contents, folder, name)

    def _is_in_one(self, program: Program, folder: Path, name: str) -> bool:
        """Whether the file of one side has all the weights: then it is copied, and they have their places there."""
        for side in self._models[1:]:
            with suppress(Unplaced, ModelError):
                placed_in(program, self._contents, _folder(side), name)
                copyfile(resolve(name, _folder(side)), file_for(name, folder))
                return True
        return False


def _shell(model: Model) -> Spec:
    """Return a model without its program."""
    assert model.spec is not None
    shell = Spec()
    shell.CopyFrom(model.spec)
    shell.ClearField(PROGRAM)
    return shell


def _folder(model: Model) -> Path:
    assert model.model_path is not None
    return model.model_path
