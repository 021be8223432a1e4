"""Three versions of a model made one: its program, what stands around that, and its weights.

Programs are merged as texts in which a weight has the same place wherever it holds the same. In the end, each weight
gets its place in the weight file that the merge leaves.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, NamedTuple, cast

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
    from miltext.models.files import Progress
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
    any, the model is that of the `side` whose weights are all in the files that are kept, ours if both are; None if
    neither is.
    """

    text: str
    model: Spec | None
    conflicts: Sequence[str] = ()
    errors: Sequence[Diagnostic] = ()
    side: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all was merged."""
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
    """Merge what two versions of an ML Program changed of a third; write new weight files into a folder.

    Without a base, both sides added the model: what they have in common by name is merged. Errors that neither side has
    are looked for unless `check` is false. Raise ModelError for what is not an ML Program, and WeightsError for weights
    that cannot be read.
    """
    return _Merge(base, ours, theirs, kept or Kept(), progress).run(folder, markers, check)


def resolve_models(base: Model | None, ours: Model, theirs: Model, folder: Path, text: str) -> MergedModel:
    """Return the model of a text in which somebody resolved the conflicts of a merge; write its weight files into a
    folder.

    Comments say whose description is taken where both sides changed it: those of one side, as the merge wrote them.
    Raise ParseError, ModelError and WeightsError.
    """
    return _Merge(base, ours, theirs, Kept()).resolved(folder, text)


class _Merge:
    def __init__(
        self, base: Model | None, ours: Model, theirs: Model, kept: Kept, progress: Progress | None = None
    ) -> None:
        self._base, self._sides = base, (ours, theirs)
        self._kept = kept
        self._contents = Contents(progress)
        mine = self._contents.named_anew(ours)
        before = self._contents.named_anew(base) if base else None
        self._programs = (before, mine, self._contents.named_anew(theirs))

    def _side(self, number: int) -> Model:
        """Return the base (0), ours (1) or theirs (2)."""
        model = (self._base, *self._sides)[number]
        assert model is not None  # nothing is taken of a base that is not there
        return model

    def _texts(self) -> list[str]:
        return ["" if program is None else to_text(program) for program in self._programs]

    def resolved(self, folder: Path, text: str) -> MergedModel:
        """Merge all but the program, which the text has."""
        program = parse(text)
        spec, clashes = self._around()
        shown = {line.strip() for line in text.splitlines() if line.startswith("//")}
        taken = [{side for side in (1, 2) if (clash.conflict[side] or None) in shown} for clash in clashes]
        if clashes and not set.intersection(*taken):
            places = ", ".join(f"`{clash.place}`" for clash in clashes)
            said = f"the text keeps neither side's comments on {places}; keep those of one side"
            return MergedModel(text, None, [said])
        if clashes and 1 not in set.intersection(*taken):
            spec, _ = self._around(swapped=True)
        texts = self._texts()
        errors = new_errors(text, texts[1], texts[2])
        try:
            self._place(program, folder)
        except Unplaced as failure:
            return MergedModel(text, None, [str(failure)], errors)
        if errors:
            return MergedModel(text, None, ["neither side has these errors"], errors)
        spec.mlProgram.CopyFrom(program)
        return MergedModel(text, spec)

    def run(self, folder: Path, markers: Markers, check: bool) -> MergedModel:
        texts = self._texts()
        merged = merge_texts(texts[0], texts[1], texts[2], markers)
        spec, clashes = self._around()
        conflicts = [f"both sides changed `{clash.place}`" for clash in clashes]
        if merged.conflicts:
            number = "an operation" if merged.conflicts == 1 else f"{merged.conflicts} operations"
            conflicts.insert(0, f"both sides changed {number}")
        if conflicts:
            text = markers.text([*(clash.conflict for clash in clashes), merged.text])
            return self._kept_whole(text, conflicts)
        program = parse(merged.text)
        errors = new_errors(merged.text, texts[1], texts[2]) if check else []
        try:
            self._place(program, folder)
        except Unplaced as failure:
            return self._kept_whole(merged.text, [str(failure)], errors)
        if errors:
            return self._kept_whole(merged.text, ["neither side has these errors"], errors)
        spec.mlProgram.CopyFrom(program)
        return MergedModel(merged.text, spec)

    def _kept_whole(self, text: str, conflicts: Sequence[str], errors: Sequence[Diagnostic] = ()) -> MergedModel:
        """Return a merge in conflict, with the model of the side that is whole with the files that are kept."""
        for side in (1, 2):
            with suppress(Unplaced, ModelError):
                return MergedModel(text, self._with_kept_weights(side), conflicts, errors, side)
        return MergedModel(text, None, conflicts, errors)

    def _with_kept_weights(self, side: int) -> Spec:
        """Return the model of a side, with its weights where they are in the files that are kept. Raise Unplaced."""
        program = own_copy(cast("Program", self._programs[side]))
        for name in weight_files(program):
            placed_in(program, self._contents, _folder(self._side(self._kept.weights.get(name, 1))), name)
        spec = _shell(self._side(side))
        spec.mlProgram.CopyFrom(program)
        return spec

    def _around(self, *, swapped: bool = False) -> tuple[Spec, list[Clash]]:
        """Return the merged model without its program, and the places that both sides changed, where ours stays, or
        theirs if the sides are `swapped`.
        """
        base, ours, theirs = _shell(self._base), *(_shell(model) for model in self._sides)
        if swapped:
            ours, theirs = theirs, ours
        return ours, merge_messages(base, ours, theirs)

    def _place(self, program: Program, folder: Path) -> None:
        """Give the weights of the merged program their places. Raise Unplaced."""
        for name in weight_files(program):
            settled = self._kept.weights.get(name)
            if settled is not None and self._kept.model is None:
                placed_in(program, self._contents, _folder(self._side(settled)), name)
            elif settled is None and self._kept.model is not None:
                side = self._side(self._kept.model)
                replaced(side.program, program, self._contents, _folder(side), folder, name)
            elif settled is None and not self._is_in_one(program, folder, name):
                written_anew(program, self._contents, folder, name)

    def _is_in_one(self, program: Program, folder: Path, name: str) -> bool:
        """Whether the file of one side has all the weights: then it is copied, and they have their places there."""
        for side in self._sides:
            with suppress(Unplaced, ModelError):
                placed_in(program, self._contents, _folder(side), name)
                copyfile(resolve(name, _folder(side)), file_for(name, folder))
                return True
        return False


def _shell(model: Model | None) -> Spec:
    """Return a model without its program; nothing of none."""
    shell = Spec()
    if model is None:
        return shell
    assert model.spec is not None
    shell.CopyFrom(model.spec)
    shell.ClearField(PROGRAM)
    return shell


def _folder(model: Model) -> Path:
    assert model.model_path is not None
    return model.model_path
