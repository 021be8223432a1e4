"""Markdown and HTML say all that the text says, and nothing that GitHub or a browser reads something else into."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from conftest import CORPUS, EXAMPLE
from support.containers import write_package
from support.diff_cases import CASES, FOLDER, WEIGHTS, write_weights
from support.pipelines import binary, piped, unary
from support.told_forms import Page, counts_of_markdown, of_markdown, of_text

import miltext
from miltext.diffing.panes import Panes
from miltext.diffing.report import Told, report
from miltext.models.opening import open_model

Made = Callable[[Path], miltext.Difference]


def case(name: str, **options: bool) -> Made:
    def made(folder: Path) -> miltext.Difference:
        for text in ("a.mil", "b.mil"):
            shutil.copy(FOLDER / name / text, folder / text)
        if name in WEIGHTS:
            write_weights(folder / "weights", WEIGHTS[name])
        return miltext.diff("a.mil", "b.mil", **options)

    return made


def pair(folder: str, old: str, new: str) -> Made:
    return lambda _: miltext.diff(CORPUS / folder / old, CORPUS / folder / new)


def pipelines(folder: Path) -> miltext.Difference:
    """Two pipelines: a model is gone, one is another, and the description differs."""
    old = piped(unary("x", "a"), unary("a", "b"), binary("b", "x", "y"), names=("head", "middle", "tail"))
    new = piped(unary("x", "hidden"), binary("hidden", "x", "y"), names=("head", "tail"))
    new.description.metadata.author = "<b>@somebody</b> | `it`"
    paths = [
        write_package(folder / f"{name}.mlpackage", spec.SerializeToString())
        for name, spec in (("old", old), ("new", new))
    ]
    return miltext.diff(*paths)


def descriptions(folder: Path) -> miltext.Difference:
    new = open_model(EXAMPLE)
    assert new.spec is not None
    new.spec.specificationVersion += 1
    new.spec.description.metadata.author = "somebody\nelse"
    return miltext.diff(open_model(EXAMPLE), new, build_info=True)


def long_lists(folder: Path) -> miltext.Difference:
    names = [f"v{index}" for index in range(40)]
    lines = [f"fp16 {name} = relu(x = {last});" for last, name in zip(["x", *names], names, strict=False)]
    text = "program(1.3)\n{ func main<ios18>(fp16 x) {" + "\n".join(lines) + "} -> (v39); }"
    return miltext.diff(miltext.parse(text), miltext.parse(text.replace("v", "w")))


MADE: dict[str, Made] = {
    **{name: case(name) for name in CASES},
    "ignored weights": case("weights_absent", ignore_weights=True),
    "build info": case("build_info", build_info=True),
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


def test_html_says_line_by_line_what_the_text_says(difference: miltext.Difference) -> None:
    told = Page(difference.to_html())
    assert [line for line in told.lines if line[1]] == of_text(difference.to_text(full=True))
    if difference.same is False:
        assert told.counts == difference.to_stat().splitlines()
    assert {link[1:] for link in told.links} <= {*told.ids}
    assert len(told.ids) == len({*told.ids})


@pytest.mark.parametrize("full", [False, True])
def test_markdown_has_a_place_for_each_line_of_the_text(difference: miltext.Difference, full: bool) -> None:
    text, markdown = difference.to_text(full=full), difference.to_markdown(full=full, limit=1 << 30)
    assert Counter(of_text(text)) - Counter(of_markdown(markdown)) == Counter()
    if difference.same is False:
        assert counts_of_markdown(markdown) == difference.to_stat().splitlines()


def test_what_is_told_leads_to_its_lines(difference: miltext.Difference) -> None:
    for path, inner in _models(difference):
        if inner._texts is None or difference.same is not False:
            continue
        panes = Panes(inner._texts)
        for told in _all(report(difference, full=True).found):
            if len(told.at) > 1 and told.at[0] == path:
                row = panes.row_at(told.at[1:])
                assert row is not None, told
                places = [*panes.places(row)]
                assert len(places) == (1 if panes.rows[row].mark in "+-" else 2), told
                if told.sign in "+-" and told.at[1] == "operation" and panes.rows[row].mark == told.sign:
                    line = panes.rows[row].sides[places[0][0]]
                    assert line
                    assert told.words[0].partition("(")[0] in line.text


def _models(difference: miltext.Difference, path: str = "") -> Iterator[tuple[str, miltext.Difference]]:
    yield path, difference
    for model in difference.models:
        if model.difference:
            yield from _models(model.difference, model.place)


def _all(told: Sequence[Told]) -> Iterator[Told]:
    for each in told:
        yield each
        yield from _all(each.inner)
