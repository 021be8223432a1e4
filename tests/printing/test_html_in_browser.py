"""The HTML page and its graph in a real Chromium: pointer, keys, links to lines, a phone, dark, and without scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from printing.test_graph import LOOP, chain, function, layered
from printing.test_html_page import TEXT
from support.browser import PHONE, Opener

from miltext.printing.graph import SCRIPTS, STYLE, graph
from miltext.printing.html_page import page
from miltext.printing.reading import TextReader

if TYPE_CHECKING:
    from playwright.sync_api import Page

Show = Callable[..., "Page"]


@pytest.fixture
def show(tmp_path: Path, open_page: Opener) -> Show:
    """Opens the page of a text."""

    def opened(text: str, fragment: str = "", **window: Any) -> Page:
        path = tmp_path / "page.html"
        path.write_text(page(text, "A model.mlpackage"), encoding="utf-8")
        return open_page(path.as_uri() + fragment, **window)

    return opened


def picked(shown: Page) -> list[str]:
    return [str(line) for line in shown.eval_on_selector_all(".picked", "lines => lines.map((line) => line.id)")]


def titles(shown: Page) -> list[str]:
    """What the boxes of the graph say, without their signs."""
    found = shown.eval_on_selector_all(".g-title", "all => all.map((each) => each.textContent)")
    return [str(each).lstrip("▸▾ ") for each in found]


def node(shown: Page, said: str) -> Any:
    """The last node of which this is said first."""
    return shown.locator(f".g-node[aria-label^='{said},']").last


def focused(shown: Page) -> str:
    """What has the focus: a button by its id, a node by what is first said of it, with a sign if it folds."""
    said, expanded, own = shown.evaluate(
        "[...['aria-label', 'aria-expanded', 'id'].map((each) => document.activeElement.getAttribute(each) || '')]"
    )
    return str(own or {"": "", "true": "-", "false": "+"}[expanded] + said.split(",")[0])


def test_values_blocks_and_the_search(show: Show) -> None:
    shown = show(TEXT)
    use = shown.locator(".l#L14 a", has_text="n").first
    use.hover()
    assert shown.inner_text("#hint") == "n: tensor<fp16, [2]>\nwhile_loop, line 6\n1 use: line 14"
    use.click()
    assert shown.locator(".same").count() == 2
    shown.click("#fold")
    assert (shown.locator("main details[open]").count(), shown.inner_text("#fold")) == (1, "Unfold all")
    shown.keyboard.press("/")
    shown.keyboard.type("RELU/")
    assert shown.inner_text("#found") == "0 lines"
    shown.keyboard.press("Backspace")
    assert (shown.inner_text("#found"), shown.get_attribute(".now", "id")) == ("1 of 1", "L11")
    assert shown.is_visible("#L11")
    assert shown.locator("main details[open]").count() == 3


def test_the_fold_button_follows_blocks_folded_by_hand(show: Show) -> None:
    shown = show(TEXT)
    for is_open, says in ((False, "Unfold all"), (True, "Fold all")):
        shown.evaluate(
            "open => document.querySelectorAll('details details').forEach((block) => { block.open = open; })", is_open
        )
        shown.wait_for_function(f"() => document.getElementById('fold').innerText === '{says}'")


def test_lines_are_picked_by_clicks_and_by_the_address(show: Show) -> None:
    shown = show(TEXT, "#L8-L10")
    assert picked(shown) == ["L8", "L9", "L10"]
    shown.click("#L5 [data-n]")
    assert (picked(shown), shown.evaluate("location.hash")) == (["L5"], "#L5")
    shown.click("#L3 [data-n]", modifiers=["Shift"])
    assert (picked(shown), shown.evaluate("location.hash")) == (["L3", "L4", "L5"], "#L3-L5")
    shown.click("#L6 [data-n]", modifiers=["Shift"])  # up to the line that was clicked first
    assert (picked(shown), shown.evaluate("location.hash")) == (["L5", "L6"], "#L5-L6")
    shown.click("#fold")
    shown.evaluate("location.hash = '#L11'")
    shown.wait_for_selector("#L11.picked")
    assert shown.is_visible("#L11")
    for odd in ("#L0", "#L99999-L2", "#L5-", "#Lx", "#v0", "#L3-L99999"):
        shown.evaluate(f"location.hash = '{odd}'")


def test_the_graph_folds_and_leads_to_the_text_and_back(show: Show) -> None:
    shown = show(layered(12))
    assert shown.locator("svg").count() == 0
    shown.keyboard.press("g")
    assert 12 < shown.locator(".g-node").count() < 40
    assert [title for title in titles(shown) if title.startswith("layers_")] == [f"layers_{at}" for at in range(12)]
    assert "mul" not in titles(shown)
    node(shown, "model_layers_3").click()
    node(shown, "model_layers_3_mlp").click()
    node(shown, "mul").click()
    (line,) = picked(shown)
    assert "model_layers_3_mlp_down" in shown.inner_text(f"#{line}")
    shown.click("#L4 [data-n]")  # a constant: what uses it is shown
    assert shown.locator(".g-chosen").get_attribute("aria-label").startswith("mul, line 5, input_0_cast_fp16: ")
    shown.click("#L6 .v")
    assert shown.get_attribute(".g-chosen", "aria-label").startswith("relu, line 6, var_0: ")
    shown.fill(".g input[type=search]", "var_30")
    assert (shown.inner_text(".g-told"), shown.text_content(".g-chosen .g-name")) == ("1 of 1", "var_30")
    shown.check(".g input[type=checkbox]")
    assert "const" in titles(shown)
    node(shown, "const").click()
    shown.uncheck(".g input[type=checkbox]")  # what was chosen goes
    assert "const" not in titles(shown)
    assert shown.locator(".g-chosen").count() == 0
    shown.check(".g input[type=checkbox]")
    shown.click("button:text-is('Fold')")
    assert sorted(titles(shown)) == ["function main", "model_layers", "relu", "var_47", "x"]


def test_blocks_unfolded_by_a_search_are_folded_by_the_next(show: Show) -> None:
    shown = show(layered(12))
    shown.keyboard.press("g")
    before = titles(shown)
    shown.locator(".g input[type=search]").press_sequentially("layers_7_mlp_up")
    once = titles(shown)
    assert len(before) < len(once)
    shown.keyboard.press("Control+a")
    shown.locator(".g input[type=search]").press_sequentially("layers_3_mlp_up")
    assert len(titles(shown)) == len(once)
    shown.locator(".g-chosen").click()  # what is worked with stays
    shown.fill(".g input[type=search]", "layers_7_mlp_up")
    assert len(titles(shown)) > len(once)


def test_keys_follow_values_and_fold(show: Show) -> None:
    shown = show(layered(2))
    shown.click("#show")
    layers, seen = "model_layers", [focused(shown)]
    for key in ("ArrowDown", "Escape", "Enter", "ArrowDown", "ArrowDown", "ArrowUp", "Escape", "Escape", "Escape"):
        shown.keyboard.press(key)
        seen.append(focused(shown))
    assert seen == [
        "x",
        "mul",
        *[f"{sign}{layers}_0_attn" for sign in "+-"],
        "mul",
        "relu",
        "mul",
        f"+{layers}_0_attn",
        f"+{layers}_0",
        f"+{layers}",
    ]
    assert shown.inner_text(".g-live") == "model_layers: folded"
    assert shown.locator(".g-node[tabindex='0']").count() == 1
    for _ in range(2):
        shown.keyboard.press("Escape")
    shown.keyboard.press("Escape")
    assert (shown.is_visible("#graph"), focused(shown)) == (False, "show")


@pytest.fixture
def stage(tmp_path: Path, open_page: Opener) -> Page:
    """A page with two places for graphs, and what draws them there."""
    scripts, style = ("\n".join(path.read_text(encoding="utf-8") for path in paths) for paths in (SCRIPTS, [STYLE]))
    (tmp_path / "stage.html").write_text(
        f"<!doctype html><link rel=icon href=data:,><style>{style} .g {{ height: 380px }}</style>"
        f"<body><div id=one></div><div id=two></div><script>{scripts}\nconst told = [];"
        "const put = (id, data) => drawGraph(document.getElementById(id), data, "
        "{ onSelect: (line) => told.push([id, line]) });</script>",
        encoding="utf-8",
    )
    return open_page((tmp_path / "stage.html").as_uri())


def put(stage: Page, text: str, place: str = "one") -> None:
    stage.evaluate(f"data => {{ window.{place} = put('{place}', data); }}", graph(TextReader(text)))


BOXES = """() => [...document.querySelectorAll(".g-node")].map((each) => {
  const { left, right, top, bottom } = each.querySelector("rect").getBoundingClientRect();
  return { left, right, top, bottom, open: each.classList.contains("g-open"), title: each.textContent };
})"""


def apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    sides = one["right"] <= other["left"] or other["right"] <= one["left"]
    return bool(sides or one["bottom"] <= other["top"] or other["bottom"] <= one["top"])


def holds(one: dict[str, Any], other: dict[str, Any]) -> bool:
    wide = one["left"] < other["left"] and other["right"] < one["right"]
    return bool(one["open"] and wide and one["top"] < other["top"] and other["bottom"] < one["bottom"])


def test_boxes_surround_their_contents_and_nothing_overlaps(stage: Page) -> None:
    for text in (LOOP, layered(4), TEXT):
        put(stage, text)
        stage.click("button:text-is('Unfold')")
        boxes = stage.evaluate(BOXES)
        assert len(boxes) > 6
        for at, one in enumerate(boxes):
            for other in boxes[:at]:
                assert apart(one, other) or holds(one, other) or holds(other, one), (one, other)
        assert "NaN" not in stage.inner_html(".g-view")


ODD = {
    "program(1.3)\n{\n}\n": [],
    function(outputs="x"): ["function main", "x", "x"],
    chain("y"): ["function main", "x", "relu", "y"],
    chain('$"<b>&\\"層"', "z"): ["function main", "x", "relu", "relu", "z"],
    function("fp16 y = relu(x = z);", "fp16 z = relu(x = y);"): ["function main", "x", "relu", "relu"],
}


def test_odd_texts_have_a_graph(stage: Page) -> None:
    for text, expected in ODD.items():
        put(stage, text)
        assert sorted(titles(stage)) == sorted(expected)
        assert expected or "no operations" in stage.inner_text(".g-view")
        stage.evaluate("one.focus()")
        for key in ("ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft", "Enter", "+", "-", "0", "Escape", "Escape"):
            stage.keyboard.press(key)


def test_a_scope_without_operations_counts_none(stage: Page) -> None:
    put(stage, function("fp16 y = relu(x = x0);", inputs=", ".join(f"fp16 x{at}" for at in range(13)), outputs="y"))
    stage.click("button:text-is('Fold')")
    assert "13 inputs" in titles(stage)
    assert [name for name in stage.locator(".g-name").all_text_contents() if name.startswith("0 ")] == []


def test_two_graphs_on_one_page_are_apart(stage: Page) -> None:
    put(stage, LOOP)
    put(stage, layered(2), "two")
    assert stage.evaluate("[one.find('relu'), two.find('nothing'), one.select(7), two.select(0)]") == [
        1,
        0,
        True,
        False,
    ]
    assert stage.evaluate("[one, two].map((each) => Object.keys(each))") == [["select", "show", "find", "focus"]] * 2
    stage.click("#one .g-op:not(.g-folds)")
    assert [told[0] for told in stage.evaluate("told")] == ["one"]


def test_many_operations_are_not_unfolded_at_once(show: Show) -> None:
    shown = show(chain(*[f"v{number}" for number in range(1200)]))
    shown.keyboard.press("g")
    assert shown.locator(".g-node").count() < 40
    assert shown.is_disabled("button:text-is('Unfold')")
    shown.fill(".g input[type=search]", "v777")
    assert shown.text_content(".g-chosen .g-name") == "v777"
    assert shown.locator(".g-node").count() < 80


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_there_is_room_for_code(scheme: str, show: Show) -> None:
    shown = show(layered(3), width=PHONE, height=844, scheme=scheme)
    assert shown.evaluate("document.scrollingElement.scrollWidth") == PHONE
    assert shown.evaluate("document.querySelector('header').offsetHeight") < 90
    code = shown.evaluate(
        "(() => { const range = document.createRange(); range.selectNodeContents(document.getElementById('L5'));"
        "const texts = [...range.getClientRects()]; return Math.max(...texts.map((each) => each.right)); })()"
    )
    assert code > PHONE * 0.8
    starts = shown.evaluate("document.querySelector('#L5 .t').getBoundingClientRect().left")
    assert starts < PHONE * 0.2
    shown.click("#show")
    graph_at = shown.locator("#graph").bounding_box()
    assert (graph_at["width"], graph_at["y"] + graph_at["height"]) == (PHONE, 844)
    before = len(titles(shown))
    node(shown, "model_layers_0_attn").tap(position={"x": 4, "y": 60})  # not on its head
    assert len(titles(shown)) == before
    node(shown, "model_layers_0_attn").tap(position={"x": 20, "y": 10})
    assert len(titles(shown)) < before
    assert shown.evaluate("document.scrollingElement.scrollWidth") == PHONE
    shown.locator(".g-op").last.tap()
    line, head = (shown.locator(each).bounding_box() for each in (".picked", "header"))
    assert head["height"] < line["y"] < line["y"] + line["height"] < graph_at["y"]
    shown.emulate_media(media="print")
    assert [shown.is_visible(each) for each in ("main", "#graph", "#tools")] == [True, False, False]


def test_without_scripts_the_text_reads_links_and_folds(show: Show) -> None:
    shown = show(TEXT, scripts=False)
    assert shown.inner_text("#L11").strip().startswith("tensor<fp16, [2]> a = relu(x = i)")
    assert not shown.is_visible("#tools")
    shown.click("#L14 a:text('n')")
    assert shown.url.endswith("#v4")
