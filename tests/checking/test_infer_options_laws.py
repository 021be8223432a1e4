"""What `infer` writes besides types changes no Program, wherever comments stand and whatever coremltools wrote."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from conftest import corpus_files
from support.coremltools_programs import PROGRAMS, Sample
from support.gaps import FORMS, commented, tokens
from support.inlining import inlined
from support.normal_form import normal

import miltext
from miltext.checking.loading import loader_findings
from miltext.generation.options import Options
from miltext.generation.programs import generate
from miltext.parsing.parser import parse_tree
from miltext.schema.proto import Program

TEXT = """\
program(1.3) $draft(names, consts)
{
    func main<ios18>(tensor<fp16, [2, 4]> x, bool p) {
            a, b = split(softmax(x), num_splits = 2, axis = 1)[name = "s"];
            tensor<fp16, [2, 4]> y = concat(values = (a, tensor<fp16, [2, 2]>([[1, 2], [3, 4]])), axis = int32(1));
            z = cond(p)() { c = add(y, 0.5); } -> (c) () { d = relu(y); } -> (d);
        } -> (z);
}
"""


def written_out(text: str) -> str:
    return miltext.infer_draft(text, names=True, consts=True, defaults=True)


def comments(text: str) -> list[str]:
    return [text[slice(*span)] for span in parse_tree(text).comments]


@pytest.mark.parametrize("gap", range(len(tokens(TEXT)) + 1))
def test_a_comment_in_any_gap_stays(gap: int) -> None:
    text = commented(TEXT, {gap: FORMS[gap % len(FORMS)]})
    made = written_out(text)
    assert [each.split() for each in comments(made)] == [each.split() for each in comments(text)]
    assert normal(miltext.parse(made)) == normal(miltext.parse(written_out(TEXT)))


SOME = [sample for sample in PROGRAMS if sample.opset != "ios17"][::9]


@pytest.mark.parametrize("sample", SOME, ids=str)
def test_programs_from_coremltools_keep_their_kind(sample: Sample, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    program = Program.FromString(sample.program())
    for text in (miltext.to_text(program), miltext.to_text(inlined(program))):
        made = written_out(text)
        assert normal(miltext.parse(made)) == normal(program)
        assert {found.code for found in miltext.check(made)} <= {found.code for found in miltext.check(text)}
        assert written_out(made) == made
        assert is_loaded(made, tmp_path) or not is_loaded(text, tmp_path)


def is_loaded(text: str, folder: Path) -> bool:
    path = folder / "model.mil"
    path.write_text(text, encoding="utf-8")
    return loader_findings(miltext.load(path)) == []


LONG = 200_000
"""Characters of a text that takes a minute."""

FILLED = [133, 144, 362, 514, 572, 580]
"""Seeds of programs with a `fill_like` without `value`, whose `ref_tensor` is not of fp32."""


@pytest.mark.parametrize("words", [("defaults",), ("names", "consts", "defaults")], ids=" ".join)
@pytest.mark.parametrize("seed", [*range(0, 120, 8), *FILLED])
def test_a_generated_program_stays_its_kind(seed: int, words: tuple[str, ...]) -> None:
    program = generate(seed, Options(functions=1 + seed % 2, flexible=seed % 3 == 0, ops=(1, 20)))
    made = miltext.infer_draft(miltext.to_text(program), **dict.fromkeys(words, True))  # type: ignore[arg-type]
    assert normal(miltext.parse(made)) == normal(program)
    assert [found.code for found in miltext.check(made) if found.severity == "error"] == []
    assert miltext.infer_draft(made, **dict.fromkeys(words, True)) == made  # type: ignore[arg-type]


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "handwritten/*.mil"))
def test_a_text_of_the_corpus_stays_its_kind(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if len(text) > LONG:
        pytest.skip("a shorter text says as much")
    if any(found.severity == "error" for found in miltext.check(text)):
        pytest.skip("the text has errors")
    made = miltext.infer_draft(text, defaults=True)
    assert normal(miltext.parse(made)) == normal(miltext.parse(text))
    assert {found.code for found in miltext.check(made)} <= {found.code for found in miltext.check(text)}


@pytest.mark.any_version
def test_time_grows_with_the_operations() -> None:
    assert taken(2000) < 3.5 * taken(1000) + 0.2


def taken(count: int) -> float:
    """Seconds for so many operations, each with a literal, all of one name but the numbers."""
    lines = "".join(f"v{at} = mul(v{at - 1}, 0.5);\n" for at in range(1, count))
    text = f"program(1.3) {{ func main<ios18>(tensor<fp16, [2, 4]> v0) {{ {lines} }} -> (v{count - 1}); }}"
    start = time.process_time()
    assert written_out(text).count("const()") == count - 1
    return time.process_time() - start


@pytest.mark.any_version
def test_names_that_are_taken_a_thousand_times_take_no_longer() -> None:
    lines = "".join(f"write_state(s, fp16({at}));\n" for at in range(1000))
    text = f"program(1.3) {{ func main<ios18>(state<fp16> s, fp16 x) {{ {lines} }} -> (x); }}"
    start = time.process_time()
    assert "write_state_data_999 = const()" in miltext.infer_draft(text, consts=True)
    assert time.process_time() - start < 4 * taken(1000) + 0.2
