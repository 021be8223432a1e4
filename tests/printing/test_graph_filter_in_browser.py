"""The filter and the legend of the graph, and long titles, in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from printing.test_graph import LOOP, chain, function, layered
from support.browser import CUT, PHONE, Opener

from miltext.printing.html_page import page

if TYPE_CHECKING:
    from playwright.sync_api import Page

Show = Callable[..., "Page"]

TWO = function("fp16 y = relu(x = x);", inputs="fp16 x", outputs="y").removesuffix("}\n") + (
    "func other<ios18>(fp16 x) {\nfp16 y = tanh(x = x);\nfp16 relu_like = exp(x = y);\n} -> (relu_like);\n}\n"
)


@pytest.fixture
def show(tmp_path: Path, open_page: Opener) -> Show:
    """Opens the page of a text, with its graph."""

    def opened(text: str, title: str = "m", **window: Any) -> Page:
        path = tmp_path / "page.html"
        path.write_text(page(text, title), encoding="utf-8")
        shown = open_page(path.as_uri(), **window)
        shown.keyboard.press("g")
        return shown

    return opened


def said(shown: Page, kind: str) -> list[str]:
    """The title and the name of each box of a class."""
    boxes = shown.locator(f".g-view .{kind}:not(.g-open)")
    found = boxes.evaluate_all(
        "all => all.map((each) => [...each.querySelectorAll('text')].map((text) => text.textContent))"
    )
    return [" ".join(each).lstrip("▸ ") for each in found]


def search(shown: Page, words: str, part: str = "anywhere") -> str:
    shown.select_option(".g-bar select", part)
    shown.fill(".g-bar input[type=search]", words)
    return str(shown.inner_text(".g-told"))


@pytest.mark.parametrize(
    ("words", "part", "expected"),
    [
        ("relu", "anywhere", ["relu y", "exp relu_like", "output relu_like"]),
        ("RELU", "type", ["relu y"]),
        ("relu", "name", ["exp relu_like", "output relu_like"]),
        ("other", "scope", ["input x", "tanh y", "exp relu_like", "output relu_like"]),
        ("other tanh", "anywhere", ["tanh y"]),
        ("  tanh\tother ", "anywhere", ["tanh y"]),
        ("input", "type", ["input x", "input x"]),
        ("relu tanh", "anywhere", []),
        ("none", "anywhere", []),
        ("other", "name", []),
    ],
)
def test_words_are_found_in_types_names_and_scopes(words: str, part: str, expected: list[str], show: Show) -> None:
    shown = show(TWO)
    told = search(shown, words, part)
    seen = []
    for at in range(len(expected)):
        assert told == f"{at + 1} of {len(expected)}"
        kind, name = shown.evaluate("[...document.querySelectorAll('.g-chosen text')].map((each) => each.textContent)")
        seen.append(f"{name} {kind}" if name in ("input", "output") else f"{kind} {name}")
        shown.press(".g-bar input[type=search]", "Enter")
        told = shown.inner_text(".g-told")
    assert seen == expected
    assert told == (f"1 of {len(expected)}" if expected else "0 of 0")
    if expected:
        shown.press(".g-bar input[type=search]", "Shift+Enter")
        assert shown.inner_text(".g-told") == f"{len(expected)} of {len(expected)}"


def test_matches_are_marked_and_other_nodes_are_dimmed(show: Show) -> None:
    shown = show(layered(12))
    assert said(shown, "g-hit") + said(shown, "g-dim") == []
    assert search(shown, "mul") == "1 of 48"
    assert "mul input_0_cast_fp16" in said(shown, "g-hit")
    assert "layers_7 4 of 8 operations" in said(shown, "g-hit")
    assert "relu var_47" in said(shown, "g-dim")
    hit = shown.locator(".g-hit").first.evaluate("each => getComputedStyle(each.querySelector('rect')).fill")
    assert hit != shown.locator(".g-dim").first.evaluate("each => getComputedStyle(each.querySelector('rect')).fill")
    assert search(shown, "layers_7_mlp_up") == "1 of 1"  # by the name of the weight
    assert search(shown, "nothing") == "0 of 0"
    assert said(shown, "g-hit") + said(shown, "g-dim") == []
    assert "layers_5 8 operations" in said(shown, "g-folds")
    search(shown, "mul")
    assert search(shown, " ") == ""
    assert said(shown, "g-hit") + said(shown, "g-dim") == []


def test_constants_are_found_if_they_are_shown(show: Show) -> None:
    shown = show(LOOP)
    assert search(shown, "half") == "1 of 1"  # an output of this name
    assert search(shown, "const", "type") == "0 of 0"
    shown.check(".g-bar input[type=checkbox]")
    assert shown.inner_text(".g-told") == "1 found"
    shown.press(".g-bar input[type=search]", "Enter")
    assert shown.text_content(".g-chosen .g-name") == "half"
    shown.uncheck(".g-bar input[type=checkbox]")
    assert shown.inner_text(".g-told") == "0 of 0"


@pytest.mark.parametrize("text", ["program(1.3)\n{\n}\n", function(inputs="", outputs="")])
def test_a_filter_without_operations(text: str, show: Show) -> None:
    shown = show(text)
    assert search(shown, "relu") == "0 of 0"
    shown.press(".g-bar input[type=search]", "Enter")


def test_one_is_found_among_many_quickly(show: Show) -> None:
    shown = show(chain(*[f"v{number}" for number in range(3000)]))
    took = shown.evaluate(
        "(() => { const start = performance.now(); graph.find('v2999'); return performance.now() - start; })()"
    )
    assert shown.inner_text(".g-told") == "1 of 2"  # the operation and the output
    assert took < 2000


@pytest.mark.parametrize("width", [1280, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_legend_explains_each_kind_of_box(width: int, scheme: str, show: Show) -> None:
    shown = show(layered(2), width=width, height=844, scheme=scheme)
    button = shown.locator(".g-bar button[aria-label=Legend]")
    assert (shown.locator(".g-legend dt").count(), button.get_attribute("aria-expanded")) == (0, "false")
    boxes = shown.locator(".g-view .g-node").count()
    button.click()
    legend = shown.inner_text(".g-legend")
    for word in ("operation", "constant", "input or output", "folded scope", "chosen", "found", "type", "keyword"):
        assert word in legend
    assert shown.locator(".g-legend svg .g-node").count() == 8
    assert shown.locator(".g-view .g-node").count() == boxes
    assert shown.evaluate("document.scrollingElement.scrollWidth") == width
    wide = "(() => { const e = document.querySelector('.g-legend'); return e.scrollWidth - e.clientWidth; })()"
    assert shown.evaluate(wide) == 0
    assert shown.locator(".g-view").bounding_box()["height"] > 60
    button.click()
    assert (shown.locator(".g-legend dt").count(), button.get_attribute("aria-expanded")) == (0, "false")


def test_the_legend_draws_boxes_as_the_graph_does(show: Show) -> None:
    shown = show(LOOP)
    shown.check(".g-bar input[type=checkbox]")
    shown.click(".g-bar button[aria-label=Legend]")
    for kind in ("g-op:not(.g-folds)", "g-const", "g-input", "g-open"):
        styles = [
            shown.locator(f"{place} .{kind} rect").first.evaluate(
                "each => { const { fill, stroke, strokeWidth, strokeDasharray } = getComputedStyle(each);"
                "return [fill, stroke, strokeWidth, strokeDasharray]; }"
            )
            for place in (".g-legend", ".g-view")
        ]
        assert styles[0] == styles[1], kind


def test_a_phone_has_room_for_the_filter(show: Show) -> None:
    shown = show(layered(12), width=PHONE, height=844)
    for each in (".g-bar input[type=search]", ".g-bar select", ".g-bar button[aria-label=Legend]"):
        box = shown.locator(each).bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= PHONE
    assert shown.locator(".g-bar input[type=search]").bounding_box()["width"] > 120
    assert search(shown, "mul") == "1 of 48"
    assert shown.locator(".g-chosen").is_visible()
    assert shown.locator(".g-bar").bounding_box()["height"] < 110


TITLES = ["A model.mlpackage", "Encoder_" + "x" * 120 + ".mlpackage", "層" * 80, "<b>&amp; " + "long words " * 40]


@pytest.mark.parametrize("width", [1280, PHONE])
@pytest.mark.parametrize("title", TITLES)
def test_titles_are_shown_in_full(title: str, width: int, show: Show) -> None:
    shown = show(layered(2), title, width=width, height=844)
    assert " ".join(shown.inner_text("h1").split()) == " ".join(title.split())
    assert shown.evaluate(CUT) == [0, 0]
    assert shown.evaluate("getComputedStyle(document.querySelector('h1')).textOverflow") == "clip"
    assert shown.evaluate("document.scrollingElement.scrollWidth") == width
    shown.locator("#L9").scroll_into_view_if_needed()
    header = shown.locator("header").bounding_box()
    assert header["y"] < 0 or header["height"] <= 844 / 4
