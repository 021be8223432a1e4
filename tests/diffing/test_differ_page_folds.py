"""The page of a difference in a real Chromium: folds, the filter, and both graphs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser import PHONE, Opener
from support.told_pipelines import pipelines

import miltext

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

LAYERS = 5
TYPE = "tensor<fp16, [1, 8]>"
REPEATED = "program(1.3)\n{{ func main<ios18>(tensor<fp16, [1, 8]> x) {{ {} }} -> (layers_4_c); }}".format(
    " ".join(
        f"tensor<fp16, [1, 8]> layers_{layer}_a = relu(x = {taken}); "
        f"tensor<fp16, [1, 8]> layers_{layer}_b = softmax(x = layers_{layer}_a, axis = int32(-1)); "
        f"tensor<fp16, [1, 8]> layers_{layer}_c = tanh(x = layers_{layer}_b);"
        for layer, taken in enumerate(["x", *[f"layers_{layer}_c" for layer in range(LAYERS - 1)]])
    )
)
CHANGED = (
    REPEATED.replace("int32(-1)", "int32(1)")
    .replace(
        "layers_2_b = softmax(x = layers_2_a",
        "more = exp(x = layers_2_a); tensor<fp16, [1, 8]> layers_2_b = softmax(x = more",
    )
    .replace("layers_4_c = tanh", "layers_4_c = erf")
)
"""In each of five layers the axis is another, an `exp` came into the third, and the last `tanh` is an `erf`."""


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of REPEATED and CHANGED."""
    path = tmp_path_factory.mktemp("layers") / "diff.html"
    path.write_text(miltext.diff(miltext.parse(REPEATED), miltext.parse(CHANGED)).to_html(), encoding="utf-8")
    return path.as_uri()


# ---- folds


def test_a_fold_opens_to_all_that_it_stands_for(layers: str, open_page: Opener) -> None:
    page = open_page(layers)
    fold = page.locator("li.fold", has_text="in each of layers_0 … 4: layers_0_b")
    inside = fold.locator("details li.change > span")
    assert fold.locator("> ul li").all_inner_texts() == ["axis: -1 -> 1"]
    assert not inside.first.is_visible()
    fold.get_by_text("all 5").click()
    assert inside.all_inner_texts() == [f"layers_{layer}_b: softmax" for layer in range(LAYERS)]
    assert inside.last.is_visible()
    group = page.locator("li.detail", has=page.get_by_text("1 argument follows from more")).last
    assert not group.locator("li.change").first.is_visible()
    group.locator("summary").click()
    assert group.locator("li.detail > span").all_inner_texts()[-1] == "x: layers_2_a -> more"


@pytest.mark.parametrize("scripts", [True, False])
def test_the_sign_of_a_row_opens_the_folds_around_its_entry(layers: str, scripts: bool, open_page: Opener) -> None:
    page = open_page(layers, scripts=scripts)
    entry = page.locator("li.change", has_text="layers_3_b: softmax").last
    assert not entry.is_visible()
    page.locator(".row", has_text="layers_3_b = softmax").locator("> a").click()
    assert entry.is_visible()
    assert page.locator("li:target > span").first.inner_text() == "layers_3_b: softmax"


# ---- the filter


def test_the_filter_shows_entries_with_all_words(layers: str, open_page: Opener) -> None:
    page = open_page(layers)
    page.keyboard.press("/")
    page.keyboard.type("softmax LAYERS_3")
    told = page.locator("#hits")
    told.filter(has_text="1 entry, 1 row").wait_for()
    visible = page.locator("#report li.change > span:visible")
    assert visible.all_inner_texts() == [
        "in each of layers_0 … 4: layers_0_b: softmax (also layers_1_b, layers_2_b and 2 more)",  # what it is in
        "layers_3_b: softmax",
    ]
    assert page.locator("#report .hit > span").all_inner_texts() == ["layers_3_b: softmax"]
    assert page.locator("#report li.detail:visible").all_inner_texts() == ["axis: -1 -> 1"]
    rows = page.locator(".row:visible, .both:visible")
    assert rows.count() == 1
    assert "layers_3_b = softmax" in rows.inner_text()
    page.keyboard.press("Enter")
    assert told.inner_text() == "1 of 2"
    assert page.locator(".now").inner_text().startswith("~ layers_3_b")
    page.keyboard.press("Shift+Enter")
    assert told.inner_text() == "2 of 2"
    assert page.locator(".row.now").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#filter").input_value() == ""
    assert page.locator(".row:visible").count() > 5
    assert not page.locator("li.fold details li").first.is_visible()  # as before


def test_words_of_an_entry_and_its_details_are_found_together(layers: str, open_page: Opener) -> None:
    page = open_page(layers)
    page.fill("#filter", "layers_0_b axis")
    page.locator("#hits", has_text="entr").wait_for()
    assert "layers_0_b: softmax" in page.locator("#report li.hit > span:visible").all_inner_texts()


def test_words_that_nothing_has_leave_nothing(layers: str, open_page: Opener) -> None:
    page = open_page(layers)
    page.fill("#filter", "nowhere")
    page.locator("#hits", has_text="0 entries, 0 rows").wait_for()
    assert page.locator("#report li:visible:not(.counts li)").count() == 0
    assert page.locator(".row:visible").count() == 0
    page.press("#filter", "Enter")
    page.keyboard.type("  ")
    page.keyboard.press("n")  # a letter in the field, not a step
    assert page.locator("#steps output").inner_text().endswith("places")
    page.fill("#filter", "   ")
    page.locator(".row:visible").first.wait_for()
    assert page.inner_text("#hits") == ""


# ---- both graphs


def graph(page: Page, side: int) -> Locator:
    return page.locator(".graph-side").nth(side)


def chosen(page: Page, side: int) -> str:
    return " ".join(graph(page, side).locator(".g-chosen text").all_text_contents())


def test_an_entry_leads_to_its_nodes_in_both_graphs(layers: str, open_page: Opener) -> None:
    page = open_page(layers)
    assert page.locator("#graphs svg").count() == 0  # until they are shown
    page.locator("li.change", has_text="layers_4_c: erf").locator("a.to-graph").last.click()
    boxes = [graph(page, side).bounding_box() for side in (0, 1)]
    assert boxes[0]
    assert boxes[1]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] < boxes[1]["x"]
    assert "~ tanh" in chosen(page, 0)
    assert "~ erf" in chosen(page, 1)
    page.locator("li.plus", has_text="more = exp").locator("a.to-graph").click()
    assert "+ exp" in chosen(page, 1)
    assert graph(page, 1).locator(".g-chosen.g-plus").count() == 1
    assert page.locator(".graphs-bar output").inner_text().startswith("tensor<fp16, [1, 8]> more = exp")


def test_a_node_leads_to_its_entry_and_its_partner(layers: str, open_page: Opener) -> None:
    page = open_page(layers)
    page.keyboard.press("g")
    graph(page, 1).locator("input[type=search]").fill("layers_3_b")
    node = graph(page, 1).locator(".g-hit.g-op")
    node.click()
    assert page.locator("li:target > span").first.inner_text() == "layers_3_b: softmax"
    assert page.locator("li:target").is_visible()
    assert "~ softmax" in chosen(page, 0)
    assert "layers_3_b" in graph(page, 0).locator(".g-chosen title").text_content()
    graph(page, 0).locator("input[type=search]").fill("layers_1_a")
    graph(page, 0).locator(".g-hit.g-op").click()  # nothing is told of it: its row
    assert "layers_1_a = relu" in page.locator(":is(.row, .both):target").inner_text()
    assert "layers_1_a" in graph(page, 1).locator(".g-chosen title").text_content()


def test_nodes_have_the_colour_and_the_sign_of_their_difference(layers: str, open_page: Opener) -> None:
    page = open_page(layers)
    page.locator("#graph").click()
    for side in (0, 1):
        graph(page, side).get_by_title("Unfold all").click()
    states = [
        [graph(page, side).locator(f".g-op.g-{state}").count() for state in ("plus", "minus", "change", "follow")]
        for side in (0, 1)
    ]
    assert states == [[0, 0, 6, 0], [1, 0, 6, 0]]
    assert "changed" in graph(page, 1).locator(".g-op.g-change title").first.text_content()
    graph(page, 0).get_by_title("Legend").click()
    assert graph(page, 0).locator(".g-legend").get_by_text("differences that follow from others").is_visible()


def test_keys_open_and_close_the_graphs(layers: str, open_page: Opener) -> None:
    page = open_page(layers)
    page.locator("li.plus", has_text="more = exp").locator("a.to-graph").focus()
    page.keyboard.press("g")
    assert "+ exp" in chosen(page, 1)
    page.locator("#graphs").get_by_title("Close (Escape)").focus()
    page.keyboard.press("Escape")
    assert page.locator("#graphs").is_hidden()
    assert page.evaluate("document.activeElement.id") == "graph"
    page.keyboard.press("Enter")
    assert page.locator("#graphs").is_visible()


def test_on_a_phone_one_graph_is_shown(layers: str, open_page: Opener) -> None:
    page = open_page(layers, width=PHONE, height=844)
    page.locator("li.change", has_text="layers_4_c: erf").locator("a.to-graph").last.click()
    assert not graph(page, 0).is_visible()
    assert "~ erf" in chosen(page, 1)
    page.get_by_role("button", name="Old", exact=True).click()
    assert not graph(page, 1).is_visible()
    assert "~ tanh" in chosen(page, 0)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    page.fill("#filter", "layers_3")
    page.locator("#hits:not(:empty)").wait_for()
    page.locator("#legend summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    field = page.locator("#filter").bounding_box()
    assert field
    assert field["width"] > PHONE / 3


def test_each_model_of_pipelines_has_its_graphs(tmp_path: Path, open_page: Opener) -> None:
    (tmp_path / "diff.html").write_text(pipelines(tmp_path).to_html(), encoding="utf-8")
    page = open_page((tmp_path / "diff.html").as_uri())
    page.keyboard.press("g")
    models = page.locator("#graphs select[aria-label=Model]")
    assert models.locator("option").all_inner_texts() == ['model 0 "head"', 'model 1 "tail"']
    models.select_option(index=1)
    assert graph(page, 0).locator(".g-node").count() > 1
    page.locator("#report a.to-graph:visible").first.click()
    assert page.locator("#graphs select[aria-label=Model]").input_value() == "m0"


def test_models_without_texts_have_no_graphs(tmp_path: Path, open_page: Opener) -> None:
    difference = replace(miltext.diff(miltext.parse(REPEATED), miltext.parse(CHANGED)), _texts=None)
    (tmp_path / "diff.html").write_text(difference.to_html(), encoding="utf-8")
    page = open_page((tmp_path / "diff.html").as_uri())
    assert not page.locator("#graph").is_visible()
    page.keyboard.press("g")
    assert page.locator("#graphs").is_hidden()
