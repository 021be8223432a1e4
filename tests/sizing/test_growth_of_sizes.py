"""The growth of sizes: its scopes and its weights add up to the difference of the totals of `size` alone."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from conftest import CORPUS, EXAMPLE
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.containers.sources import Source, model_of
from miltext.generation.options import Options
from miltext.generation.programs import generate
from miltext.scopes.weight_extents import LEAST
from miltext.sizing.growth import Growth, growth_between

WEIGHTS = Path("Data", "com.apple.CoreML", "weights", "weight.bin")

MODELS = sorted(CORPUS.glob("*/*.mlpackage")) + sorted(CORPUS.glob("*/*.mlmodelc"))


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)])


def growth_of(old: Source, new: Source) -> Growth:
    return growth_between(model_of(old), model_of(new))


def assert_adds_up(old: Source, new: Source) -> Growth:
    """Check that the rows of a growth sum to the totals of both models alone, and that a difference has them, too."""
    growth = growth_of(old, new)
    is_pipeline = any(model_of(side).is_pipeline for side in (old, new))
    difference = None if is_pipeline else miltext.diff(old, new)
    if difference is not None and (difference.functions or difference.weights.changed):
        sizes, total = difference.summary.sizes, difference.stat.total
        assert (sizes.old_bytes, sizes.new_bytes) == (growth.old_bytes, growth.new_bytes)
        assert (total.old_bytes, total.new_bytes) == (growth.old_bytes, growth.new_bytes)
        changed = Counter((each.name, each.old_bytes, each.new_bytes) for each in sizes.changed)
        assert changed == Counter((each.name, each.old_bytes, each.new_bytes) for each in growth.weights)
    change = growth.new_bytes - growth.old_bytes
    for side, whole in ((old, growth.old_bytes), (new, growth.new_bytes)):
        beside = whole - miltext.size(side).bytes  # literals whose partners are weights
        assert 0 <= beside < LEAST * max(1, len(growth.weights))
    assert sum(each.new_bytes - each.old_bytes for each in growth.scopes) == change
    assert sum(each.new_bytes - each.old_bytes for each in growth.weights) == change
    return growth


def linear(out: str, x: str, weight: str) -> str:
    return f"            {out} = linear(x = {x}, weight = {weight});\n"


def built(path: Path, functions: dict[str, list[str]], files: dict[str, str]) -> Path:
    """Build a model whose functions apply weights, by name, in a row; `files` are the arrays of the weights."""
    arrays = {name: np.full((16, 16), index + 1, np.float16) for index, name in enumerate(sorted({*files.values()}))}
    for name, array in arrays.items():
        np.save(path.parent / f"{name}.npy", array)
    texts = []
    for function, weights in functions.items():
        lines = [f'            {each} = const()[val = $npy("{files[each]}.npy")];\n' for each in dict.fromkeys(weights)]
        for index, (each, following) in enumerate(pairwise([*weights, ""])):
            out = "y" if not following else f"{each}_{index}_out"
            lines.append(linear(out, "x" if not index else f"{weights[index - 1]}_{index - 1}_out", each))
        texts.append(f"    func {function}<ios18>(tensor<fp16, [1, 16]> x) {{\n{''.join(lines)}        }} -> (y);\n")
    source = path.with_suffix(".mil")
    source.write_text("program(1.3)\n{\n" + "".join(texts) + "}\n", encoding="utf-8")
    miltext.build(source, path, force=True)
    return path


def test_growth_of_generated_programs_adds_up() -> None:
    options = Options(ops=(6, 16), functions=3, weights=300)
    programs = [generate(seed, options) for seed in range(14)]
    assert sum(miltext.size(each).bytes > 0 for each in programs) > 7
    for old, new in pairwise(programs):
        assert_adds_up(old, new)
        assert_adds_up(new, old)
        assert not growth_of(old, old)


def test_growth_of_models_that_share_weights_at_random_adds_up(tmp_path: Path) -> None:
    chosen = random.Random(1)
    models = []
    for seed in range(10):
        functions = {name: chosen.choices("abcd", k=chosen.randint(1, 4)) for name in chosen.sample("fgh", k=2)}
        files = {weight: chosen.choice(["one", "two", "three"]) for weight in "abcd"}
        models.append(built(tmp_path / f"{seed}.mlpackage", functions, files))
    assert len({miltext.size(each).bytes for each in models}) > 1
    for old, new in permutations(models, 2):
        assert_adds_up(old, new)
    for each in models:
        assert not growth_of(each, each)


@pytest.mark.parametrize("pair", [*pairwise(MODELS)], ids=lambda pair: f"{pair[0].name}-{pair[1].name}")
def test_growth_of_the_corpus_adds_up(pair: tuple[Path, Path]) -> None:
    for old, new in (pair, pair[::-1]):
        assert_adds_up(old, new)
    itself = growth_of(pair[0], pair[0])
    assert (itself.scopes, itself.weights, itself.files) == ((), (), ())


def test_a_weight_that_is_no_longer_shared_is_a_row(tmp_path: Path) -> None:
    tied = built(tmp_path / "Tied.mlpackage", {"main": ["a", "b"]}, {"a": "one", "b": "one"})
    untied = built(tmp_path / "Untied.mlpackage", {"main": ["a", "b"]}, {"a": "one", "b": "two"})
    assert (miltext.size(tied).bytes, miltext.size(untied).bytes) == (512, 1024)
    assert [(each.name, each.old_bytes, each.new_bytes) for each in assert_adds_up(tied, untied).weights] == [
        ("b", 0, 512)
    ]
    assert [(each.name, each.old_bytes, each.new_bytes) for each in assert_adds_up(untied, tied).weights] == [
        ("b", 512, 0)
    ]


def test_a_shared_weight_of_another_size_is_one_row(tmp_path: Path) -> None:
    """Two constants and two functions share a record: its bytes change once, and not once for each constant."""
    tied = built(tmp_path / "Tied.mlpackage", {"f": ["a", "b"], "g": ["a"]}, {"a": "one", "b": "one"})
    wide = tmp_path / "Wide.mlpackage"
    miltext.convert_weights(tied, "fp32", wide)
    growth = assert_adds_up(tied, wide)
    assert [(each.name, each.old_bytes, each.new_bytes) for each in growth.weights] == [("a", 512, 1024)]
    assert "+512 B" in run("diff", tied, wide, "--stat").stdout
    assert "bytes of weights: +512 B" in run("diff", tied, wide).stdout


def test_weights_that_functions_share(tmp_path: Path) -> None:
    files = {"a": "one", "b": "two"}
    one = built(tmp_path / "One.mlpackage", {"main": ["a"]}, files)
    shared = built(tmp_path / "Shared.mlpackage", {"main": ["a"], "other": ["a"]}, files)
    more = built(tmp_path / "More.mlpackage", {"main": ["a"], "other": ["a", "b"]}, files)
    assert miltext.size(shared).bytes == 512
    assert not assert_adds_up(one, shared).weights
    growth = assert_adds_up(shared, more)
    assert [(each.function, each.name, each.new_bytes) for each in growth.weights] == [("other", "b", 512)]
    assert re.search(r" other/b$", run("size", more, "--against", shared).stdout, re.MULTILINE)
    record = json.loads(run("size", more, "--against", shared, "--json").stdout)
    assert [(each["function"], each["name"]) for each in record["weights"]] == [("other", "b")]


def test_reordered_users_of_a_shared_weight_did_not_grow(tmp_path: Path) -> None:
    files = {"a": "one", "b": "one", "c": "two"}
    old = built(tmp_path / "Old.mlpackage", {"f": ["a", "c"], "g": ["b"]}, files)
    new = built(tmp_path / "New.mlpackage", {"g": ["b"], "f": ["a", "c"]}, files)
    growth = assert_adds_up(old, new)
    assert (growth.scopes, growth.weights) == ((), ())


def short_literal(length: int) -> str:
    values = ", ".join(f"{number}.5" for number in range(length))
    return (
        "program(1.3)\n{\n    func main<ios17>(tensor<fp32, [1]> x) {\n"
        f"            c = const()[val = tensor<fp32, [{length}]>([{values}])];\n"
        "            y = add(x = x, y = c);\n        } -> (y);\n}\n"
    )


def test_a_short_literal_counts_beside_a_long_one_only(tmp_path: Path) -> None:
    short, long = tmp_path / "short.mil", tmp_path / "long.mil"
    short.write_text(short_literal(8), encoding="utf-8")
    long.write_text(short_literal(100), encoding="utf-8")
    growth = assert_adds_up(short, long)
    assert [(each.name, each.old_bytes, each.new_bytes) for each in growth.weights] == [("c", 32, 400)]
    assert not assert_adds_up(short, short).weights
    assert miltext.size(short).bytes == 0
    assert_adds_up(long, short)


@pytest.mark.skipif(not MODELS, reason="needs the corpus: see MILTEXT_CORPUS")
def test_a_program_against_a_pipeline_has_rows() -> None:
    pipeline = CORPUS / "pipelines" / "yolov8n-nms.mlpackage"
    growth = assert_adds_up(pipeline, EXAMPLE)
    assert {each.model for each in growth.scopes} == {"", "0"}  # the old scopes were in model 0
    assert {each.model for each in assert_adds_up(EXAMPLE, pipeline).scopes} == {"0"}


def test_unused_bytes_of_a_file_are_growth(tmp_path: Path) -> None:
    padded = tmp_path / "M.mlpackage"
    shutil.copytree(EXAMPLE, padded)
    with (padded / WEIGHTS).open("ab") as file:
        file.write(bytes(100_000))
    growth = assert_adds_up(EXAMPLE, padded)
    [changed] = growth.files
    assert changed.new_bytes - changed.old_bytes == 100_000
    assert changed.new_unused - changed.old_unused == 100_000
    assert (growth.scopes, growth.weights) == ((), ())
    ended = run("size", padded, "--against", EXAMPLE)
    assert ended.exit_code == 1
    assert ended.stdout.startswith("no change: 684 B of weights")
    assert re.search(r"^\+100 kB .* 0 B -> 100 kB +@model_path/weights/weight\.bin$", ended.stdout, re.MULTILINE)
    record = json.loads(run("size", padded, "--against", EXAMPLE, "--json").stdout)
    assert record["files"][0]["newUnused"] == 100_000


def test_a_file_that_cannot_be_read_has_a_note_and_no_row(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "M.mlpackage")
    (tmp_path / "M.mlpackage" / WEIGHTS).unlink()
    growth = assert_adds_up(EXAMPLE, tmp_path / "M.mlpackage")
    assert not growth
    assert "does not exist" in growth.notes[0]


def test_a_renamed_scope_did_not_grow(tmp_path: Path) -> None:
    old = built(tmp_path / "Old.mlpackage", {"main": ["layer_0_w", "layer_0_v"]}, {"layer_0_w": "a", "layer_0_v": "b"})
    text = (tmp_path / "Old.mil").read_text(encoding="utf-8").replace("layer_0", "block_0")
    (tmp_path / "New.mil").write_text(text, encoding="utf-8")
    miltext.build(tmp_path / "New.mil", tmp_path / "New.mlpackage")
    names = [{each.scope for each in miltext.size(path).scopes} for path in (old, tmp_path / "New.mlpackage")]
    assert names[0] != names[1]
    assert not assert_adds_up(old, tmp_path / "New.mlpackage")
