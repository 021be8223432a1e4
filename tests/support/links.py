"""Models linked at random, and held against the same models run one after the other."""

from __future__ import annotations

import filecmp
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from support.model_checks import assert_coremltools_opens, weight_files

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import MiltextError
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.random_inputs import random_inputs
from miltext.evaluation.values import rounded
from miltext.printing.printer import type_text
from miltext.schema.dtypes import packed_size
from miltext.schema.types import TensorType
from miltext.syntax.names import identifier, name_text, opset_text
from miltext.weight_files.blob_storage import BlobFile
from miltext.weight_files.model_weights import blob_values

if TYPE_CHECKING:
    from miltext.evaluation.features import Feature
    from miltext.models.model import Model

CASTABLE = ("fp16", "fp32", "int32")


class Outcome(NamedTuple):
    """What came of a link in a few words, the number of bound outputs, and the bytes of weights before and after."""

    words: str
    bound: int = 0
    before: int = 0
    after: int = 0


def random_bindings(paths: Sequence[Path], rng: random.Random, *, least: int = 1) -> dict[str, str]:
    """Bind, in each model from a place on, a random input to an output of an earlier one of its shape."""
    models = [Evaluator(path, check=False) for path in paths]
    found: dict[str, str] = {}
    for place, model in enumerate(models[least:], least):
        ways = [
            (f"{before}.{output}", f"{place}.{taken}")
            for before in range(place)
            for output, given in models[before].outputs.items()
            for taken, wanted in model.inputs.items()
            if _fits(given, wanted)
            and f"{before}.{output}" not in found
            and _is_allowed(models[before].features.get(output), given, models[place].features.get(taken))
        ]
        if ways:
            source, target = rng.choice(ways)
            found[source] = target
    return found


def _fits(given: Any, wanted: Any) -> bool:
    """Whether an output can be bound: with a cast, and where the input takes any size, with inference."""
    if not isinstance(given, TensorType) or not isinstance(wanted, TensorType):
        return False
    sizes = [*zip(given.shape, wanted.shape, strict=False)]
    alike = len(given.shape) == len(wanted.shape) and all(each in (None, size) for size, each in sizes)
    return alike and {given.dtype, wanted.dtype} <= {*CASTABLE}


def _is_allowed(source: Feature | None, given: Any, target: Feature | None) -> bool:
    """Whether the descriptions allow a binding: the sizes, and the order of an image's channels."""
    if target is None or (None not in given.shape and not target.allows(given.shape)):
        return target is None
    images = [each.image.colorSpace for each in (source, target) if each is not None and each.image is not None]
    return len({*images}) < 2


def can_follow(model: Path, paths: Sequence[Path]) -> bool:
    """Whether a model can take an output of some others."""
    return bool(random_bindings([*paths, model], random.Random(0), least=len(paths)))


def differing(paths: Sequence[Path]) -> set[str]:
    """The names of inputs that mean different types, or an output of another type."""
    known: dict[str, Any] = {}
    apart: set[str] = set()
    for path in paths:
        model, entries = Evaluator(path, check=False), _entries(open_model(path))
        for name, each in model.inputs.items():
            said = (each, entries.get(name))
            if known.setdefault(name, said) != said:
                apart.add(name)
        known.update({name: (each, "") for name, each in model.outputs.items()})
    return apart


def _entries(model: Model) -> dict[str, bytes]:
    description = model.description
    listed = [] if description is None else [*description.input, *description.output]
    return {entry.name: entry.type.SerializeToString(deterministic=True) for entry in listed}


def outcome(paths: Sequence[Path], bind: Mapping[str, str], apart: set[str], folder: Path) -> Outcome:
    """Link models, and compare the whole with the models one after the other."""
    out, again = folder / "Whole.mlpackage", folder / "Again.mlpackage"
    try:
        linked = miltext.link(paths, out, bind=bind, apart=apart, cast=True, force=True)
    except MiltextError as failure:
        found = failure.diagnostics[0]
        return Outcome(f"refused: {found.code} {found.message}")
    miltext.link(paths, again, bind=bind, apart=apart, cast=True, force=True)
    if not same_files(out, again):
        return Outcome("WRONG: a second link is another package")
    assert_coremltools_opens(out)
    if new := [each for each in miltext.check(out) if each.severity == "error"]:
        return Outcome(f"WRONG: check says {new[0].message}")
    expected, stored = unique_bytes(paths), stored_bytes(out)
    if expected != stored:
        return Outcome(f"WRONG: {stored} bytes of records, not {expected}")
    if differs := text_differs(linked, paths, out, folder):
        return Outcome(f"WRONG: a text with imports {differs}")
    words = _compared(linked, paths, out)
    return Outcome(words, sum(not each.is_shared for each in linked.values), *linked.weights)


def text_differs(linked: miltext.Linked, paths: Sequence[Path], out: Path, folder: Path) -> str:
    """Build the text with imports that says the same as a link; return what differs, empty for nothing."""
    made = folder / "Text.mlpackage"
    text = folder / "Text.mil"
    text.write_text(import_text(linked, paths, out, folder), encoding="utf-8")
    try:
        miltext.build(text, made, force=True)
    except MiltextError as failure:
        return f"is refused: {failure.diagnostics[0].message}"
    if records(made) != records(out):
        return "has other records"
    sides = [
        [*getattr(open_model(each).description, side)] for side in ("input", "output", "state") for each in (out, made)
    ]
    if sides[::2] != sides[1::2]:
        return "has another description"
    try:
        whole, other = Evaluator(out), Evaluator(made)
        given = random_inputs(whole.inputs, features=whole.features)
        states: tuple[dict[str, Any], dict[str, Any]] = {}, {}
        for _ in range(2):
            one, two = (
                each.run(given, state=state, seed=0, allow_nan=True)
                for each, state in zip((whole, other), states, strict=True)
            )
            if different := [name for name in one if not _same(one[name], two[name])]:
                return f"gives another `{different[0]}`"
    except MiltextError:
        return ""
    return ""


def import_text(linked: miltext.Linked, paths: Sequence[Path], out: Path, folder: Path) -> str:
    """Return a text that says the same as a link, with copies of the models beside it."""
    program = open_model(out).program
    function = program.functions["main"]
    heads = [f"{type_text(each.type)} {name_text(each.name)}" for each in function.inputs]
    opset = opset_text(function.opset)
    new = {(each.part, each.old): each.new for each in linked.renamed if not each.is_inner}
    sources = {each.target: each for each in linked.values}
    known: dict[str, str] = {}
    copies: dict[Path, str] = {}
    outer = iter(linked.outputs)
    lines = []
    for name, path in zip(linked_names(paths), paths, strict=True):
        copied = copies.setdefault(path, f"copy_{len(copies)}_{path.name}")
        shutil.copytree(path, folder / copied, dirs_exist_ok=True)
        model = Evaluator(path, check=False)
        message = open_model(path).program.functions[model.function]
        arguments = []
        for each in (value.name for value in message.inputs):
            bound = sources.get(f"{name}.{each}")
            value = known[bound.source] if bound is not None else name_text(new.get((name, each), each))
            known[f"{name}.{each}"] = value = f'cast({value}, "{bound.cast}")' if bound and bound.cast else value
            arguments.append(f"{name_text(each)} = {value}")
        given = [
            next(outer) if f"{name}.{each}" not in linked.inner else identifier(f"{name}_{each}")
            for each in model.outputs
        ]
        known |= {f"{name}.{old}": name_text(each) for old, each in zip(model.outputs, given, strict=True)}
        call = f'$import("{copied}")({", ".join(arguments)})'
        lines.append(f"            {', '.join(map(name_text, given))} = {call};")
    outputs = ", ".join(map(name_text, linked.outputs))
    body = "\n".join(lines)
    return f"program(1.3)\n{{\n    func main<{opset}>({', '.join(heads)}) {{\n{body}\n        }} -> ({outputs});\n}}\n"


def records(package: Path) -> set[tuple[Any, ...]]:
    """The records that the program of a package refers to: data type, count and digest."""
    model = open_model(package)
    tensors = [model.weights.tensor(held.value) for held in blob_values(model.program)]
    return {(each.dtype.name, each.count, each.digest()) for each in tensors}


def _compared(linked: miltext.Linked, paths: Sequence[Path], out: Path) -> str:
    """Run the whole and the models twice, with their states, and compare all outputs."""
    names = {(each.part, each.old): each.new for each in linked.renamed if not each.is_inner}
    try:
        whole, parts = Evaluator(out), [Evaluator(path, check=False) for path in paths]
        given = random_inputs(whole.inputs, features=whole.features)
        states: list[dict[str, Any]] = [{} for _ in parts]
        state: dict[str, Any] = {}
        for _ in range(2):
            known = _one_by_one(linked, paths, parts, states, given, names)
            made = whole.run(given, state=state, seed=0, allow_nan=True)
            for spelled, value in known.items():
                part, _, name = spelled.partition(".")
                new = names.get((part, name), name)
                if f"{part}.{name}" in _outputs(linked, known) and not _same(made[new], value):
                    return f"WRONG: `{spelled}` is another number"
    except MiltextError as failure:
        return f"linked; not run: {failure.diagnostics[0].message}"
    return "linked; equal"


def _outputs(linked: miltext.Linked, known: Mapping[str, Any]) -> set[str]:
    """The outputs of the models that are outputs of the whole: no input takes them."""
    return {*known} - {each.source for each in linked.values if not each.is_shared}


def _one_by_one(
    linked: miltext.Linked,
    paths: Sequence[Path],
    parts: Sequence[Evaluator],
    states: Sequence[dict[str, Any]],
    given: Mapping[str, Any],
    names: Mapping[tuple[str, str], str],
) -> dict[str, Any]:
    """The outputs of the models, as in `encoder.y`, one after the other."""
    sources = {each.target: each for each in linked.values}
    known: dict[str, Any] = {}
    taken: dict[str, Any] = {}
    for name, part, state in zip(linked_names(paths), parts, states, strict=True):
        inputs = {}
        for each in part.inputs:
            bound = sources.get(f"{name}.{each}")
            value = given[names.get((name, each), each)] if bound is None else {**taken, **known}[bound.source]
            inputs[each] = rounded(np.asarray(value), bound.cast) if bound is not None and bound.cast else value
            taken[f"{name}.{each}"] = inputs[each]
        made = part.run(inputs, state=state, seed=0, allow_nan=True)
        known.update({f"{name}.{output}": value for output, value in made.items()})
    return known


def linked_names(paths: Sequence[Path]) -> list[str]:
    """The names that the models have in a link."""
    names: list[str] = []
    for stem in (path.stem for path in paths):
        ways = [stem, *(f"{stem}_{number}" for number in range(2, len(paths) + 1))]
        names.append(next(each for each in ways if each not in names))
    return names


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return bool(one == other)
    a, b = np.asarray(one), np.asarray(other)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


# ---- files


def same_files(one: Path, other: Path) -> bool:
    """Whether two folders contain the same files."""
    files = [sorted(path.relative_to(each) for path in each.rglob("*") if path.is_file()) for each in (one, other)]
    return files[0] == files[1] and all(filecmp.cmp(one / path, other / path, shallow=False) for path in files[0])


def unique_bytes(paths: Sequence[Path]) -> int:
    """The bytes of the different records that the default functions of some models use."""
    found: dict[tuple[Any, ...], int] = {}
    for path in paths:
        model = open_model(path)
        function = Evaluator(path, check=False).function
        for held in blob_values(model.program):
            if held.function == function:
                tensor = model.weights.tensor(held.value)
                size = packed_size(tensor.count, tensor.dtype.bits)
                found[tensor.dtype.name, tensor.count, tensor.digest()] = size
    return sum(found.values())


def stored_bytes(package: Path) -> int:
    """The bytes of the records in the weight files of a package."""
    files = [package / "Data" / "com.apple.CoreML" / name for name in weight_files(package)]
    found = 0
    for path in files:
        with BlobFile(path) as file:
            found += sum(packed_size(blob.count, blob.dtype.bits) for blob in file)
    return found
