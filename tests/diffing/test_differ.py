"""What `miltext diff` tells: a table of cases with goldens in tests/golden/diff, laws, and the command itself."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Check
from support.commands import miltext as run
from support.diff_cases import CASES, FOLDER, WEIGHTS, numbered, write_weights

import miltext
from miltext.diffing.measures import measure
from miltext.diffing.structure import TensorDistance
from miltext.schema.proto import Program
from miltext.schema.tensors import Tensor, literal
from miltext.weight_files.blob_storage import BlobFile


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A case's texts and weight files in the current folder, so that no path of this machine is told."""
    name = str(request.param)
    for text in ("a.mil", "b.mil"):
        (tmp_path / text).write_bytes((FOLDER / name / text).read_bytes())
    if name in WEIGHTS:
        write_weights(tmp_path / "weights", WEIGHTS[name])
    monkeypatch.chdir(tmp_path)
    return name


def rounded(thing: Any) -> Any:
    """A thing for JSON, its floats as far as every machine agrees on them."""
    if isinstance(thing, dict):
        return {key: rounded(value) for key, value in thing.items()}
    if isinstance(thing, list):
        return [rounded(value) for value in thing]
    return float(f"{thing:.6g}") if isinstance(thing, float) else thing


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_reports_the_differences_that_a_person_would(case: str, matches_golden: Check) -> None:
    difference = miltext.diff("a.mil", "b.mil")
    matches_golden(FOLDER / case / "expected.txt", difference.to_text())
    matches_golden(FOLDER / case / "expected.diff", difference.to_unified())
    matches_golden(FOLDER / case / "expected.md", difference.to_markdown())
    matches_golden(FOLDER / case / "expected.json", json.dumps(rounded(difference.to_json()), indent=1) + "\n")


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_the_reverse_comparison_reports_the_reverse(case: str) -> None:
    there, back = miltext.diff("a.mil", "b.mil"), miltext.diff("b.mil", "a.mil")
    assert there.same is back.same
    assert counts(there) == counts(back, "removed", "added")
    assert len(there.weights.changed) == len(back.weights.changed)


def counts(difference: miltext.Difference, *kinds: str) -> list[int]:
    """How many functions and operations were added and removed, or the kinds given."""
    kinds = kinds or ("added", "removed")
    blocks = [block for function in difference.changed for block in function.blocks]
    return [len(getattr(part, kind)) for part in (difference, *blocks) for kind in kinds]


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_the_unified_diff_has_the_lines_and_their_numbers(case: str) -> None:
    difference = miltext.diff("a.mil", "b.mil", build_info=True)
    texts = [miltext.to_text(miltext.load(name).program, elide=16).splitlines() for name in ("a.mil", "b.mil")]
    unified = difference.to_unified()
    renamed = "# renamed: " in unified
    for sign, number, line in numbered(unified):
        if sign != "-" or not renamed:
            assert texts[sign != "-"][number - 1] == line
    signs = [sign for sign, _, _ in numbered(unified)]
    assert len(texts[1]) - len(texts[0]) == signs.count("+") - signs.count("-")


def test_the_page_shows_the_report() -> None:
    shown = (FOLDER / "everything_at_once" / "expected.txt").read_text(encoding="utf-8").splitlines()[2:]
    page = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
    assert "\n".join(shown).replace("`consequences=True`", "--consequences") in page


def test_the_page_shows_a_compressed_weight() -> None:
    shown = (FOLDER / "weight_palettized" / "expected.txt").read_text(encoding="utf-8").splitlines()[2:]
    assert "\n".join(shown) in (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")


def test_build_info_is_compared_on_request() -> None:
    folder = FOLDER / "build_info"
    difference = miltext.diff(folder / "a.mil", folder / "b.mil", build_info=True)
    assert [(change.name, change.old, change.new) for change in difference.changes] == [
        ('buildInfo["coremlc-version"]', None, 'string("3500.32.1")'),
        ('buildInfo["coremltools-version"]', '"8.3.0"', '"9.0"'),
    ]


# ---- what is given to be compared


def test_paths_models_and_programs_are_compared() -> None:
    old, new = (FOLDER / "change_argument" / name for name in ("a.mil", "b.mil"))
    by_path = miltext.diff(old, str(new))
    assert (by_path.old, by_path.new) == (str(old), str(new))
    assert miltext.diff(miltext.load(old), miltext.load(new)) == by_path
    programs = miltext.diff(miltext.load(old).program, miltext.load(new).program)
    assert (programs.old, programs.new, programs.functions) == ("old", "new", by_path.functions)
    with pytest.raises(TypeError, match="Program"):
        miltext.diff(old, Program.FromString(b"").functions["main"])


def test_the_programs_are_left_as_they_were() -> None:
    programs = [miltext.load(FOLDER / "rename_all_values" / name).program for name in ("a.mil", "b.mil")]
    before = [program.SerializeToString(deterministic=True) for program in programs]
    difference = miltext.diff(*programs)
    assert difference.to_unified() == difference.to_unified()
    assert [program.SerializeToString(deterministic=True) for program in programs] == before


def test_models_are_compared_around_their_programs() -> None:
    old = miltext.load(ROOT / "examples" / "Classifier.mlpackage")
    new = miltext.load(ROOT / "examples" / "Classifier.mlpackage")
    assert miltext.diff(old, new).same
    assert new.spec is not None
    new.spec.specificationVersion += 1
    new.spec.description.metadata.author = "somebody\nelse"
    new.spec.description.metadata.userDefined["com.github.apple.coremltools.version"] = "1.0"
    new.spec.description.output[0].name = "other"
    difference = miltext.diff(old, new)
    assert not difference.functions
    told = {change.name: (change.old, change.new) for change in difference.changes}
    assert told[""] == (str(old.specification_version), str(new.specification_version))
    assert told["metadata.author"][1] == '"somebody\\nelse"'
    assert told["output[other].name"] == (None, '"other"')
    assert not any("coremltools" in name for name in told)
    asked = miltext.diff(old, new, build_info=True)
    assert {change.name for change in asked.changes} - {*told} == {
        "metadata.userDefined[com.github.apple.coremltools.version]"
    }


def test_a_record_that_lies_is_noted_and_its_place_compared(tmp_path: Path) -> None:
    for name in ("a.mil", "b.mil"):
        (tmp_path / name).write_bytes((FOLDER / "weights_elsewhere" / name).read_bytes())
    write_weights(tmp_path / "weights", WEIGHTS["weights_elsewhere"])
    with open(tmp_path / "weights" / "b.bin", "r+b") as file:
        file.seek(64)
        file.write(b"\0")
    difference = miltext.diff(tmp_path / "a.mil", tmp_path / "b.mil")
    assert [note for note in difference.notes if "b.mil" in note and "no record at offset 64" in note]
    assert [(weight.operation, weight.measure) for weight in difference.weights.changed] == [("w2", None)]
    assert (difference.weights.equal, difference.weights.unread) == (1, 1)


def test_long_lists_are_cut_unless_all_is_requested() -> None:
    names = [f"v{index}" for index in range(30)]
    operations = [f"fp16 {name} = relu(x = {last});" for last, name in zip(["x", *names], names, strict=False)]
    text = "program(1.3)\n{ func main<ios18>(fp16 x) {" + "\n".join(operations) + "} -> (v29); }"
    difference = miltext.diff(miltext.parse(text), miltext.parse(text.replace("v", "w")))
    cut = difference.to_text()
    assert cut.count("->") == 20
    assert "and 10 more of 30; `full=True` lists all" in cut
    assert difference.to_text(full=True).count("->") == 30


# ---- how far tensors are apart


def apart(old: Any, new: Any, dtype: str, other: str | None = None) -> TensorDistance:
    tensors = list[Tensor | None]()
    for values, name in ((old, dtype), (new, other or dtype)):
        program = miltext.parse(f"program(1.3) [v = tensor<{name}, [{len(values)}]>([{', '.join(values)}])] {{}}")
        tensors.append(literal(program.attributes["v"]))
    one, another = tensors
    assert one is not None
    assert another is not None
    found = measure(one, another)
    assert found is not None
    return found


INFINITE = (math.inf, math.inf, -math.inf)


@pytest.mark.parametrize(
    ("old", "new", "dtype", "changed", "expected"),
    [
        ("1 2 3 4", "1 2 3 6", "fp32", 1, (2.0, 0.5, 10 * math.log10(30 / 4))),
        ("1 2 3 4", "1 2 3 6", "bf16", 1, (2.0, 0.5, 10 * math.log10(30 / 4))),
        ("1 2 3 4", "1 2 3 6", "fp8e5m2", 1, (2.0, 0.5, 10 * math.log10(30 / 4))),
        ("1 -2", "-1 2", "int4", 2, (4.0, 3.0, 10 * math.log10(5 / 20))),
        ("0 0", "0 1", "uint1", 1, (1.0, 0.5, -math.inf)),
        ("-0.0 1", "0.0 1", "fp64", 1, (0.0, 0.0, math.inf)),
        ("nan 1", "nan 1", "fp16", 0, (0.0, 0.0, math.inf)),
        ("nan 1", "$0x7e01 1", "fp16", 1, (0.0, 0.0, math.inf)),
        ("1 1", "nan 1", "fp16", 1, INFINITE),
        ("inf 1", "-inf 1", "fp32", 1, INFINITE),
        ("9223372036854775807 0", "9223372036854775806 0", "int64", 1, (1.0, 0.5, math.inf)),
        ("-9223372036854775808 0", "9223372036854775807 0", "int64", 1, (2.0**64, 2.0**63, -20 * math.log10(2))),
        ("18446744073709551615 0", "0 0", "uint64", 1, (2.0**64, 2.0**63, 0.0)),
        ("true false", "true true", "bool", 1, (None, None, None)),
    ],
)
def test_measures(old: str, new: str, dtype: str, changed: int, expected: tuple[float | None, ...]) -> None:
    found = apart(old.split(), new.split(), dtype)
    assert (found.count, found.changed) == (len(old.split()), changed)
    if expected[2] is not None and math.isinf(expected[2]) and found.snr != expected[2]:
        assert found.snr is not None
        assert found.snr > 300  # a least difference of 64-bit integers
    else:
        assert (found.maximum, found.mean, found.snr) == pytest.approx(expected)


def test_types_are_measured_by_value() -> None:
    assert apart(["1", "nan", "-0.0"], ["1", "nan", "0"], "fp32", "fp16").changed == 0
    assert apart(["1", "2"], ["1", "2.5"], "int8", "fp16").maximum == 0.5


def test_weights_are_measured_in_pieces(tmp_path: Path) -> None:
    count = (1 << 20) + 3
    values = np.ones(count, np.float32)
    write_weights(
        tmp_path / "w", {"a.bin": [("fp32", values)], "b.bin": [("fp32", values + (np.arange(count) == count - 1))]}
    )
    old, new = (BlobFile(tmp_path / "w" / name).blob(64) for name in ("a.bin", "b.bin"))
    found = measure(old, new)
    assert found == TensorDistance(count, 1, 1.0, 1 / count, 10 * math.log10(count))


# ---- the command

OLD, NEW = FOLDER / "change_argument" / "a.mil", FOLDER / "change_argument" / "b.mil"


def test_exit_status_states_whether_there_is_a_difference() -> None:
    same, different = run("diff", OLD, OLD), run("diff", OLD, NEW)
    assert (same.returncode, same.stdout, same.stderr) == (0, b"no difference\n", b"")
    assert (different.returncode, different.stderr) == (1, b"")
    assert different.stdout.decode().splitlines()[2:] == [
        "outputs: y may have other numbers",
        "func main",
        "    ~ y: leaky_relu",
        "        alpha: 0.1 -> 0.2",
    ]


@pytest.mark.parametrize(
    ("options", "input", "said"),
    [
        (("no-such.mil", NEW), None, b"no-such.mil"),
        (("-", NEW), b"program(1.3) {", b"error[MIL"),
        (("-", NEW), b"\x12\xff\xff", b"error[MIL253]"),
        (("-", "-"), b"", b"standard input"),
        ((OLD, NEW, "--stat", "--format", "json"), None, b"--stat"),
        ((OLD, NEW, "--format", "xml"), None, b"xml"),
        ((OLD,), None, b"B"),
    ],
)
def test_a_failure_is_two(options: tuple[object, ...], input: bytes | None, said: bytes) -> None:
    result = run("diff", *options, input=input)
    assert (result.returncode, result.stdout) == (2, b"")
    assert said in result.stderr
    assert b"Traceback" not in result.stderr


def test_formats() -> None:
    difference = miltext.diff(OLD, NEW)
    told = json.loads(run("diff", OLD, NEW, "--format", "json").stdout)
    assert {**told, **difference.to_json()} == told  # and findings
    assert run("diff", OLD, NEW, "--format", "unified").stdout.decode() == difference.to_unified()
    stat = run("diff", OLD, NEW, "--stat")
    assert (stat.returncode, stat.stdout.decode()) == (1, difference.to_stat())


def test_colors_on_request() -> None:
    assert b"\x1b[" not in run("diff", OLD, NEW).stdout
    assert b"\x1b[33m    ~ y: leaky_relu\x1b[0m\n" in run("--color", "always", "diff", OLD, NEW).stdout


def test_one_of_them_may_come_from_a_pipe() -> None:
    assert run("diff", "-", OLD, input=OLD.read_bytes()).returncode == 0
    assert run("diff", OLD, "-", input=NEW.read_bytes()).returncode == 1


def test_build_info_and_full_are_options() -> None:
    folder = FOLDER / "build_info"
    assert run("diff", folder / "a.mil", folder / "b.mil").returncode == 0
    assert b"coremltools-version" in run("diff", folder / "a.mil", folder / "b.mil", "--build-info", "--full").stdout
