"""Imports of a text: the operations of the named functions in place of the operations that stand for them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.build import assemble
from miltext.building.choices import BuildChoices
from miltext.building.given_weights import with_files
from miltext.building.pruning import unite_files
from miltext.building.storing import WEIGHT_FILE
from miltext.checking.findings import Finding, elsewhere, located
from miltext.checking.import_calls import ImportCall
from miltext.checking.imports import refused_import
from miltext.checking.verifier import beside
from miltext.containers.functions import chosen_function, require_program
from miltext.containers.opening import open_model
from miltext.containers.programs import BareProgram, TextModel
from miltext.descriptions.kept_sizes import allowed_in_words
from miltext.descriptions.losses import warnings_of
from miltext.descriptions.ranges import read_ranges
from miltext.descriptions.sizes import Size, spell_sizes
from miltext.diagnostics import MiltextError, Note, ParseError, codes
from miltext.drafting.describing_imports import describe_imports
from miltext.drafting.draft import Draft
from miltext.drafting.judging import judge
from miltext.drafting.model_parts import ModelPart
from miltext.drafting.planting_imports import PlantedImport, plant
from miltext.drafting.reshaping import reshape
from miltext.files.refusals import refusal
from miltext.files.writing import WITH_DESCRIPTION
from miltext.ir.graph import Graph
from miltext.ir.parts import Value
from miltext.models.outputs import check_kept
from miltext.parsing.lowering.imports import import_named
from miltext.parsing.lowering.left_out import LeavingOut
from miltext.parsing.parser import attempt
from miltext.printing.flexible_shapes import flexible
from miltext.printing.printing import to_text
from miltext.schema.types import TensorType
from miltext.syntax.names import IMPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from miltext.building.new_model import NewModel
    from miltext.descriptions.ranges import Range
    from miltext.descriptions.sizes import Sizes
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.parsing.lowering.imports import ImportReference
    from miltext.printing.flexible_shapes import Flexible
    from miltext.schema.paths import Path as Place
    from miltext.schema.proto import Program
    from miltext.schema.tensors import InType
    from miltext.schema.types import Type


# ---- a model with its imports


def assembled(source: Model, choices: BuildChoices) -> tuple[Model, NewModel]:
    """Return a model with its draft completed, and the same as it would be built. Raise as `assemble` does."""
    try:
        return source, assemble(source, choices)
    except ParseError as failure:
        draft = Draft.behind(failure, source)
        if draft is None:
            raise
    whole = draft.model
    with draft.relocating():
        imports = imports_of(whole, choices)
        new = assemble(whole, imports.choices if imports else choices)
    if imports:
        imports.describe(new)
    return whole, new


def imports_of(whole: Model, choices: BuildChoices) -> TextImports | None:
    """Return the imports of a whole text; None for a text without one. Raise ParseError at the place of a wrong one."""
    return TextImports(whole, choices) if whole.kind == "mil" and IMPORT in (whole.text or "") else None


class _PlacedCall(NamedTuple):
    """A call of a part: the names of the inputs by the names of the arguments."""

    part: ModelPart
    names: Mapping[str, str]


class TextImports:
    """The imports of a whole text: `parts` are the functions, one for all calls with inputs of equal sizes.

    `choices` are those of a build that puts their operations into the program.
    """

    def __init__(self, whole: Model, choices: BuildChoices) -> None:
        self._whole, self._given = whole, choices
        self.parts: list[ModelPart] = []
        self.warnings: list[Diagnostic] = []
        self._sources: list[Model] = []
        self._paths: list[Path] = []
        self._planted: list[PlantedImport] = []
        self._ranges: dict[str, Range] = {}
        self._known: dict[tuple[str, str | None, tuple[tuple[str, Type], ...]], ModelPart] = {}
        self._imports = beside(whole.text or "", whole.model_path or Path()).imports
        self._calls = [*self._found()]
        files = {name: path for part in self.parts for name, path in part.claimed.files.items()}
        weights = with_files(choices.weights, files) if files else choices.weights
        ranges = {**self._ranges, **(choices.ranges or {})}
        self.choices = replace(choices, imports=self._plant, weights=weights, ranges=ranges or None)

    def _found(self) -> Iterator[_PlacedCall]:
        program = attempt(self._whole.text or "", LeavingOut())
        graph = Graph(program) if program is not None else None
        for path, op in graph.operations().items() if graph else ():
            reference = import_named(op.type)
            if reference is not None and self._imports is not None:
                call = ImportCall(op, reference, self._imports, "1.3")
                with self._placed(path, reference):
                    part = self._part(call)
                self._take_ranges(call, part)
                yield _PlacedCall(part, call.names())

    def _take_ranges(self, call: ImportCall, part: ModelPart) -> None:
        """Take the sizes that an import states for an input of the text that has open ones."""
        if self._given.original is not None or self._given.description is not None:
            return
        for name, own in call.names().items():
            operand, entry = call.op.operand(name), part.entries("input").get(own)
            allowed = flexible(entry) if entry is not None else None
            if isinstance(operand, Value) and operand.maker is None and _is_open(operand.type) and allowed:
                self._require_allowed(operand.name, allowed, f"`{own}` of `{call.reference}`")
                self._ranges.setdefault(operand.name, _ended(_limits(allowed)))

    def _require_allowed(self, name: str, allowed: Flexible, words: str) -> None:
        """Refuse requested sizes of an input of the text that an import excludes. Raise ModelError (MIL488)."""
        asked = {each: sizes for each, sizes in (self._given.ranges or {}).items() if each == name}
        for sizes in read_ranges(asked).values():
            limits = [(size.least, size.greatest or size.least) for size in sizes]
            if len(limits) == len(allowed.default) and not allowed.allows_all(limits):
                known = allowed_in_words(allowed)
                message = f"{words} gets [{', '.join(map(str, sizes))}], but allows {known}"
                raise refusal(codes.TYPES_OF_BINDING, message, self._whole.name, Note("`ranges=` gives it other sizes"))

    @contextmanager
    def _placed(self, path: Place, reference: ImportReference) -> Iterator[None]:
        """Report an error of an imported model at its import."""
        try:
            yield
        except MiltextError as failure:
            said = refused_import(reference, failure).diagnostics[0]
            finding = Finding((*path, "type"), said.code, f"`{reference}`: {said.message}")
            text = self._whole.text
            raise ParseError(located([finding], text), text=text, path=self._whole.name) from failure

    # ---- parts

    def _part(self, call: ImportCall) -> ModelPart:
        """Return the function of a call, with the sizes of its arguments."""
        path, sizes = call.imports.path(call.reference.file), call.opened()
        key = os.path.realpath(path), call.called.name, (*sorted(sizes.items()),)
        if key not in self._known:
            part = self._known[key] = self._made(call, path, sizes)
            part.claim(f"imports/{len(self.parts)}")
            self.parts.append(part)
            self.warnings += [elsewhere(each, None, call.reference.file) for each in part.built.warnings]
        return self._known[key]

    def _made(self, call: ImportCall, path: Path, sizes: Mapping[str, TensorType]) -> ModelPart:
        source = require_program(open_model(path), "imported")
        self._sources.append(source)
        self._paths.append(path)
        ranges: dict[str, str] = {}
        if source.kind not in WITH_DESCRIPTION:
            ranges = {name: _ended(_sizes(each)) for name, each in call.called.inputs.items() if _is_open(each)}
        own = BuildChoices(ranges=ranges, check=self._given.check)
        whole, built = assembled(source, own)
        for failure in built.missing.values():
            raise failure
        default = built.spec.description.defaultFunctionName
        function = chosen_function(built.spec.mlProgram, default, call.reference.function, source.name)
        part = ModelPart(name=path.stem, source=whole, choices=own, built=built, function=function)
        if sizes:
            found: list[Diagnostic] = []
            resize(part, {name: _sizes(each) for name, each in sizes.items()}, found.append)
            part.built.warnings += found
        part.graph()  # raises for undefined names
        return part

    # ---- the whole

    def _plant(self, program: Program, arrays: dict[str, InType]) -> dict[str, InType]:
        """Put the operations of the parts into the program of the text; return the arrays of all."""
        graph = Graph(program)
        ops = [op for op in graph.walk() if import_named(op.type) is not None]
        self._planted = plant([(op, call.part, call.names) for op, call in zip(ops, self._calls, strict=True)])
        program.CopyFrom(graph.program())
        for part in self.parts:
            arrays |= part.claimed.arrays
        return arrays

    def finish(self, new: NewModel, output: Path) -> None:
        """Put the weights of a model to write into one file, and judge the whole program.

        An original with several weight files keeps these, and gets those of the imports.
        """
        self.describe(new)
        check_kept(output, new.imported)
        own = {*new.files}.difference(*(part.claimed.files for part in self.parts))
        if self.parts and len(own) <= 1:
            new.store = next(iter(own), WEIGHT_FILE)
            unite_files(new, replace(self.choices, progress=None, expect=None), lambda: 0)
        whole = BareProgram("pb", new.spec.mlProgram, self._whole.name, None)
        judge(new, whole, output, self.choices)

    def describe(self, new: NewModel) -> None:
        """Give inputs and outputs that are those of an import its entries, in a description that is made anew."""
        new.warnings += self.warnings
        new.imported = [*self._paths, *(path for part in self.parts for path in part.built.imported)]
        new.linked += [source for source in self._sources if source.kind in WITH_DESCRIPTION]
        if self._given.original is None and self._given.description is None:
            losses = describe_imports(new.spec, self._planted, {*(self._given.ranges or {})})
            new.warnings += warnings_of(losses, refused=self._given.no_loss)


def _is_open(type: Type) -> bool:
    return isinstance(type, TensorType) and None in type.shape


def _sizes(type: Type) -> Sizes:
    assert isinstance(type, TensorType)
    return tuple(Size(1, None) if size is None else Size(size, size) for size in type.shape)


def _limits(allowed: Flexible) -> Sizes:
    """Return the least and the greatest allowed size of each dimension."""
    if allowed.ranges and not allowed.shapes:
        return tuple(Size(least, None if greatest < 0 else greatest) for least, greatest in allowed.ranges)
    return tuple(Size(min(sizes), max(sizes)) for sizes in zip(*allowed.shapes, allowed.default, strict=True))


# ---- other sizes


def resize(part: ModelPart, sizes: Mapping[str, Sizes], on_warning: Callable[[Diagnostic], object]) -> None:
    """Give inputs of a model other sizes. Raise ParseError and ModelError as `reshape` does."""
    source, whole = part.source, part.source
    text = source.text if source.kind == "mil" and source.text else to_text(part.built.spec.mlProgram)
    made = reshape(
        text, sizes, function=part.function, path=source.name, weights=source.model_path, on_warning=on_warning
    )
    resized = TextModel(made.encode(), source.name, source.path if source.kind == "mil" else None)
    resized.model_path = source.model_path
    original = whole if whole.kind in WITH_DESCRIPTION else None
    ranges = {name: each for name, each in (part.choices.ranges or {}).items() if name not in sizes}
    if original is None:  # otherwise its description has the ranges of sizes that stay open
        ranges |= {name: _ended(each) for name, each in sizes.items() if not all(size.is_fixed for size in each)}
    own = BuildChoices(weights=part.choices.weights, ranges=ranges, check=part.choices.check, original=original)
    part.replace(resized, own, assembled(resized, own)[1])


def _ended(sizes: Sizes) -> str:
    """Spell sizes with some end for each, for an input that the whole does not describe."""
    return spell_sizes(tuple(Size(each.least, each.greatest or each.least + 1) for each in sizes))
