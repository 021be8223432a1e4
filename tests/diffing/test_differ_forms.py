"""Markdown and HTML say all that the text says, and nothing that GitHub or a browser reads something else into."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS, EXAMPLE, Check
from printing.test_colours import GIVEN
from support.diff_cases import CASES, FOLDER, WEIGHTS, numbered, write_weights
from support.laws.differing import (
    markdown_says_all,
    page_says_all,
    panes_are_the_texts,
    stat_says_all,
    what_differs_is_told,
    what_is_told_leads_to_its_lines,
)
from support.told_forms import Page, of_markdown
from support.told_pipelines import pipelines

import miltext
from miltext.containers.opening import open_model
from miltext.diffing.breaking import breaking as breaking_changes
from miltext.syntax.names import name_text

Made = Callable[[Path], miltext.Difference]


def case(name: str, **options: Any) -> Made:
    def made(folder: Path) -> miltext.Difference:
        for text in ("a.mil", "b.mil"):
            shutil.copy(FOLDER / name / text, folder / text)
        if name in WEIGHTS:
            write_weights(folder / "weights", WEIGHTS[name])
        return miltext.diff("a.mil", "b.mil", **options)

    return made


def pair(folder: str, old: str, new: str) -> Made:
    return lambda _: miltext.diff(CORPUS / folder / old, CORPUS / folder / new)


def descriptions(folder: Path) -> miltext.Difference:
    new = open_model(EXAMPLE)
    assert new.spec is not None
    new.spec.specificationVersion += 1
    new.spec.description.metadata.author = "somebody\nelse"
    return miltext.diff(open_model(EXAMPLE), new, build_info=True)


def breaking(folder: Path) -> miltext.Difference:
    case("rename_interface")(folder)
    return breaking_changes(*[open_model(name) for name in ("a.mil", "b.mil")])


def long_lists(folder: Path) -> miltext.Difference:
    names = [f"v{index}" for index in range(100)]
    lines = [f"fp16 {name} = relu(x = {last});" for last, name in zip(["x", *names], names, strict=False)]
    text = "program(1.3)\n{ func main<ios18>(fp16 x) {" + "\n".join(lines) + "} -> (v99); }"
    return miltext.diff(miltext.parse(text), miltext.parse(text.replace("v", "w")))


MADE: dict[str, Made] = {
    **{name: case(name) for name in CASES},
    "ignored weights": case("weights_absent", ignore_weights=True),
    "build info": case("build_info", build_info=True),
    "breaking": breaking,
    "not breaking": lambda _: breaking_changes(open_model(EXAMPLE), open_model(EXAMPLE)),
    "pipelines": pipelines,
    "descriptions": descriptions,
    "long lists": long_lists,
    "compiled": pair("pairs/mlmodelc-export__quantized-constexpr", "model.mil", "model.mlmodel"),
    "streaming": pair("pairs/FluidAudio__160ms_streaming_encoder", "model.mil", "model.mlmodel"),
    "bundles": pair("bundles", "ironmill-base.mlmodelc", "ironmill-base.mlpackage"),
    "other bundles": pair("bundles", "FluidAudio-TransposeEncoder.mlmodelc", "OtosakuKWS-CRNNKeywordSpotter.mlmodelc"),
    "compiled pipeline": pair("pipelines", "yolov8n-nms.mlmodelc", "yolov8n-nms.mlpackage"),
}
IN_CORPUS = ("compiled", "streaming", "bundles", "other bundles", "compiled pipeline")


@pytest.fixture(params=MADE)
def difference(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> miltext.Difference:
    name = str(request.param)
    if name in IN_CORPUS and not CORPUS.exists():
        pytest.skip("needs the corpus")
    monkeypatch.chdir(tmp_path)
    return MADE[name](tmp_path)


def test_html_has_the_lines_of_the_text(difference: miltext.Difference) -> None:
    page_says_all(difference)


def test_the_numbers_by_scope_equal_the_report(difference: miltext.Difference) -> None:
    stat_says_all(difference)


@pytest.mark.parametrize(
    "name", ["everything_at_once", "inner_block", "odd_names", "rename_interface", "weight_inline"]
)
def test_the_page_is_as_it_was(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matches_golden: Check
) -> None:
    monkeypatch.chdir(tmp_path)
    difference = case(name)(tmp_path)
    page = difference.to_html()
    assert page == difference.to_html()
    body = page.partition("</dl></details>\n")[2].partition("</main>")[0]  # without the legend
    matches_golden(FOLDER / name / "expected.html", body)


@pytest.mark.parametrize("full", [False, True])
def test_markdown_has_a_place_for_each_line_of_the_text(difference: miltext.Difference, full: bool) -> None:
    markdown_says_all(difference, full)


def test_only_models_that_both_pipelines_have_lead_to_texts(tmp_path: Path) -> None:
    html = pipelines(tmp_path).to_html()
    told = re.findall(r"<span>(model [^<]*)</span>(?:<small> <a href=\"#(\w+)\">texts)?", html)
    titles = dict(re.findall(r'<h2>([^<]*)</h2>\n<div class="panes" id="(\w+)">', html))
    assert told == [(title, titles.get(title, "")) for title, _ in told]
    assert [title for title, _ in told] == ['model 0 "head"', 'model 1 "middle": mlProgram', 'model 1 "tail"']
    assert len(titles) == 2


def test_an_entry_leads_to_its_lines(difference: miltext.Difference) -> None:
    what_is_told_leads_to_its_lines(difference)
    if difference.same is False:
        what_differs_is_told(difference)


# ---- the panes

ALONE = {"rename_function"}
"""A case whose functions are in another order in the old text, as the new names have it."""


@pytest.mark.parametrize("name", [name for name in CASES if name not in ALONE])
def test_the_panes_are_the_two_texts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    difference = case(name)(tmp_path)
    old, new = (miltext.load(text).program for text in ("a.mil", "b.mil"))
    panes = panes_are_the_texts(difference, old, new)
    signs = Counter(sign for sign, _, _ in numbered(difference.to_unified()))
    sides = [sum(bool(row.sides[side]) and row.mark not in " =" for row in panes.rows) for side in (0, 1)]
    if signs:
        assert sides == [signs["-"], signs["+"]]


def test_many_renamed_values_are_folded_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    difference = long_lists(tmp_path)
    assert "</summary>" not in difference.to_html().partition('id="texts"')[2]
    monkeypatch.setattr("miltext.diffing.html_rows.NAMES", 99)
    page = Page(difference.to_html())
    assert "<summary>99 equal lines, 98 with other names or places</summary>" in difference.to_html()
    assert page.rows.count("name") == 101
    assert {link[1:] for link in page.links} <= {*page.ids}


# ---- names that mean something to a browser, or to GitHub

ODD = [
    "</details><script>alert(1)</script>",
    "@octocat",
    "` @octocat `",
    "````",
    "a|b",
    "![x](http://example.com/x.png)",
    "**x** _y_ ~~z~~ $z$ &lt; :tada: #1 <!--",
    "\u202e\u2028\r\n| x |",
    "\\`",
]
TEXT = """program(1.3)
{{
    func {function}<ios18>(tensor<fp16, [2]> {name}) {{
            tensor<fp16, [2]> {weight} = const()[name = string("w"), val = tensor<fp16, [2]>(BLOBFILE(path = string("x"), offset = uint64({offset})))];
            tensor<fp16, [2]> y = {operation}(x = {name}, y = {weight})[name = string("y")];
        }} -> (y);
}}
"""  # noqa: E501


@pytest.fixture(params=range(len(ODD)))
def odd(request: pytest.FixtureRequest) -> miltext.Difference:
    """A difference of programs in which functions, values, weights and files have such a name."""
    said = ODD[request.param]
    names = {"function": name_text(said), "name": name_text(said), "weight": name_text(f"w{said}")}
    texts = [
        TEXT.format(**names, offset=offset, operation=operation) for offset, operation in ((64, "add"), (128, "sub"))
    ]
    return replace(miltext.diff(*map(miltext.parse, texts)), old=said, notes=(f"x: {said}",))


def test_names_are_never_markup(odd: miltext.Difference) -> None:
    html = odd.to_html()
    page = Page(html)
    assert html.count("<script>") == 1
    assert {link[:1] for link in page.links} == {"#"}
    assert "\u202e" not in html


def test_github_reads_nothing_into_a_name(odd: miltext.Difference) -> None:
    markdown = odd.to_markdown()
    assert [line for line in markdown if line in "\r\u202e\u2028"] == []
    outside, fence = [], ""
    for line in markdown.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line.removesuffix("diff")
        else:
            outside.append(re.sub(r"`[^`|]+`|<code>[^<>|`@_*\\]*</code>", "CODE", line))
    assert not fence
    rest = "\n".join(outside)
    assert "CODE" in rest
    assert re.sub(r"\*\*[\w :,]+\*\*|\*\*CODE\*\*|^\|---\|---\|---\|$", "", rest, flags=re.MULTILINE).count("**") == 0
    assert not re.search(r"[<>@`\\_~$!\[\]]|http", rest)


# ---- how long a comment may be


def test_a_long_comment_is_cut_at_lines_and_counts_them(tmp_path: Path) -> None:
    difference = long_lists(tmp_path)
    whole = difference.to_markdown(full=True)
    assert "left out" not in whole
    lines = of_markdown(whole)
    for limit in (1000, 1200, len(whole) - 1):
        cut = difference.to_markdown(full=True, limit=limit)
        assert len(cut) <= limit
        (left_out,) = re.findall(r"^_(\d+) lines? (?:is|are) left out here: ", cut, re.MULTILINE)
        told = of_markdown(cut)
        assert len(told) + int(left_out) == len(lines)
        assert told == lines[: len(told)]
    assert difference.to_markdown(full=True, limit=len(whole)) == whole
    with pytest.raises(ValueError, match="1000"):
        difference.to_markdown(limit=999)


def test_one_long_line_does_not_keep_others_out(tmp_path: Path) -> None:
    labels = [", ".join(f'"{side}{index}"' for index in range(9000)) for side in "ab"]
    text = """program(1.3)
    {{ func main<ios18>(fp16 x) {{
        list<string, 9000> labels = const()[name = string("labels"), val = list<string, 9000>([{}])];
        fp16 y = {}(x = x);
    }} -> (y); }}"""
    old, new = (miltext.parse(text.format(*each)) for each in zip(labels, ("relu", "tanh"), strict=True))
    comment = miltext.diff(old, new).to_markdown()
    assert len(comment) < 3000
    assert re.search(r'"a1", "a2".*… and \d+ more characters$', comment, re.MULTILINE)
    assert "\n+ fp16 y = tanh(x = x)\n" in comment
    assert "left out" not in comment
    assert len(miltext.diff(old, new).to_markdown(limit=1 << 20)) > 150_000


@pytest.mark.parametrize("name", ["x" * 5000, "é`|" * 3000])
def test_a_name_that_is_too_long_for_a_comment_is_left_out(name: str, tmp_path: Path) -> None:
    difference = replace(long_lists(tmp_path), old=name)
    cut = difference.to_markdown(limit=1000)
    assert len(cut) <= 1000
    assert "lines are left out" in cut


def test_the_page_uses_the_colours_that_all_pages_share(tmp_path: Path) -> None:
    page = long_lists(tmp_path).to_html()
    assert {"plus-line", "minus-word", "moved-line"} <= {*re.findall(r"var\(--([\w-]+)\)", page)} <= {*GIVEN}
