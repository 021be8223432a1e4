"""Programs from many sources, for scripts that rewrite and optimize them.

`SOURCES` names the sources, and `subjects` yields the programs of one. A weight whose file is missing has random
numbers.
"""

from __future__ import annotations

import ast
import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from conftest import CORPUS, ROOT
from support.how_to_models import MODELS, how_to_model
from support.oracle import archive, read
from support.whole_models import TORCH, WHOLE, whole

from miltext import Evaluator, MiltextError, Model, load, to_text
from miltext.containers.sources import is_text, model_of
from miltext.drafting.programs import program_of
from miltext.generation.options import Options
from miltext.generation.programs import generate
from miltext.schema.proto import Program
from miltext.schema.tensors import tensor_form
from miltext.syntax.programs import own_copy
from miltext.weight_files.blob_storage import BlobWriter
from miltext.weight_files.model_weights import blob_values

Inputs = Mapping[str, Any]
"""Arrays by the names of inputs."""

Subject = tuple[str, Model, list[Inputs]]
"""A program with its name, and inputs that are known to suit it."""

FILES = {
    "corpus": ("mlprograms/*.mlmodel", "pairs/*/model.mlmodel", "bundles/*.mlpackage", "bundles/*.mlmodelc",
               "pipelines/*.mlpackage", "apple/*.mil", "handwritten/*.mil", "changes/*/*.mlmodel"),
    "golden": ("**/*.mil",),
}  # fmt: skip
"""The files with programs by folder."""


def subjects(source: str, generated: int) -> Iterator[Subject]:
    """Yield the programs of a source; of "generated", those of so many seeds."""
    yield from SOURCES[source](generated)


def _generated(count: int) -> Iterator[Subject]:
    for seed in range(count):
        made = generate(seed, Options(functions=1 + seed % 2, ops=(1, 30)))
        yield f"seed {seed}", model_of(made), []


def _of_files(source: str) -> Callable[[int], Iterator[Subject]]:
    folder = CORPUS if source == "corpus" else ROOT / "tests" / "golden"

    def found(_: int) -> Iterator[Subject]:
        for path in sorted({path for pattern in FILES[source] for path in folder.glob(pattern)}):
            yield from _models(path, path.relative_to(folder).as_posix())

    return found


def _of_oracle(name: str) -> Callable[[int], Iterator[Subject]]:
    def found(_: int) -> Iterator[Subject]:
        with tempfile.TemporaryDirectory() as root:
            for each in sorted(archive(name)):
                case = read(name, each)
                (Path(root) / each).mkdir()
                yield each, _written(case.write_weights(Path(root) / each), case.program), [case.inputs]

    return found


def _of_coremltools(_: int) -> Iterator[Subject]:
    """Yield the Programs that coremltools writes for the tests."""
    from support.coremltools_programs import PROGRAMS

    for sample in PROGRAMS:
        yield from _weighted(sample.name, model_of(Program.FromString(sample.program())))


def _of_packages(_: int) -> Iterator[Subject]:
    """Yield the ML Programs of the packages that the tests make, and of the examples; with torch, also its networks."""
    paths = {path.name: path for path in sorted((ROOT / "examples").rglob("*.mlpackage"))}
    for name, path in paths.items():
        yield from _models(path, name)
    for name in MODELS:
        yield from _models(how_to_model(name), name)
    for name in WHOLE:
        if name not in TORCH or find_spec("torch") is not None:
            yield from _models(whole(name), name)
    if find_spec("torch") is not None:
        yield from _attention()


def _attention() -> Iterator[Subject]:
    from support.attention_networks import NETWORKS, converted

    for name in NETWORKS:
        for precision in ("fp32", "fp16"):
            made = converted(name, -1e4, precision)
            yield f"{name}, {precision}", model_of(made.program), [made.inputs]


def _of_test_texts(_: int) -> Iterator[Subject]:
    """Yield the programs that are texts in the tests' Python files, each once."""
    known = set()
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or node.value in known:
                continue
            known.add(text := node.value)
            if "program(" not in text or not is_text(text):
                continue
            with contextlib.suppress(MiltextError):  # of texts that are wrong on purpose, or parts of texts
                completed = model_of(own_copy(program_of(model_of(text))))
                yield from _weighted(f"{path.relative_to(ROOT).as_posix()}:{node.lineno}", completed)


SOURCES: dict[str, Callable[[int], Iterator[Subject]]] = {
    "corpus": _of_files("corpus"),
    "golden": _of_files("golden"),
    "ops": _of_oracle("ops"),
    "torch": _of_oracle("torch"),
    "coremltools": _of_coremltools,
    "packages": _of_packages,
    "texts": _of_test_texts,
    "generated": _generated,
}
"""What yields the programs, by source."""


def _models(path: Path, name: str) -> Iterator[Subject]:
    """Yield the ML Programs of a file."""
    try:
        stages = load(path).programs()
    except MiltextError:
        return
    for stage in stages:
        yield from _weighted(f"{name} {stage.place}".rstrip(), stage.model)


def _weighted(name: str, model: Model) -> Iterator[Subject]:
    """Yield a model with its weights, or with random ones."""
    with tempfile.TemporaryDirectory() as made:
        with contextlib.suppress(MiltextError, AssertionError):  # of programs that are wrong on purpose
            model = _with_weights(model, Path(made))
        yield name, model, []


def _with_weights(model: Model, folder: Path) -> Model:
    """Return a model whose weight files are missing with random weights in a folder, any other as it is."""
    program = own_copy(model.program)
    places: dict[tuple[str, int], int] = {}
    random = np.random.default_rng(0)
    try:
        for function in program.functions:
            Evaluator(model, function, check=False)
        is_missing = False
    except MiltextError:
        is_missing = True
    if not is_missing:
        return model
    (folder / "weights").mkdir()
    with BlobWriter(folder / "weights" / "weight.bin") as writer:
        for held in blob_values(program):
            blob, form = held.value.blobFileValue, tensor_form(held.value.type)
            assert form is not None, "a weight has a shape"
            key = blob.fileName, blob.offset
            places[key] = places.get(key) or writer.add(form[0], _random(random, *form))
            blob.fileName, blob.offset = "@model_path/weights/weight.bin", places[key]
    return _written(folder, program)


def _random(random: np.random.Generator, dtype: Any, shape: tuple[int, ...]) -> Any:
    if dtype.kind == "float":
        return (random.standard_normal(shape) * 0.1).astype(np.float16 if dtype.name == "fp16" else np.float32)
    return random.integers(dtype.minimum, dtype.maximum + 1, shape).astype(dtype.numpy)


def _written(folder: Path, program: Any) -> Model:
    """Return a Program beside its weight files as a model."""
    path = folder / "model.mil"
    path.write_text(to_text(program), encoding="utf-8")
    return load(path)
