"""The outline of the HTML page in a real Chromium: pointer, keys, the graph, a phone, print, and without scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import CORPUS
from printing.test_graph import chain, layered
from printing.test_html_in_browser import focused, picked
from printing.test_html_outline import numbered_layers
from support.browser import PHONE, Opener

import miltext
from miltext.printing.html_page import page
from miltext.scopes.families import TIMES
from miltext.scopes.html_outline import outline_html

if TYPE_CHECKING:
    from playwright.sync_api import Page

Show = Callable[..., "Page"]


@pytest.fixture
def show(tmp_path: Path, open_page: Opener) -> Show:
    """Opens the page of a text with its outline."""

    def opened(text: str, fragment: str = "", **window: Any) -> Page:
        path = tmp_path / "page.html"
        path.write_text(page(text, "A model.mlpackage", draw_outline=outline_html), encoding="utf-8")
        return open_page(path.as_uri() + fragment, **window)

    return opened


def row(shown: Page, label: str) -> Any:
    return shown.locator(f"#outline summary:has(> b:text-is('{label}'))")


def link(shown: Page, words: str) -> Any:
    return shown.locator(f"#outline a:text-is('{words}')")


def is_open(shown: Page, label: str) -> bool:
    return bool(row(shown, label).evaluate("summary => summary.parentElement.open"))


def test_rows_unfold_and_links_lead_to_lines_and_nodes(show: Show) -> None:
    shown = show(numbered_layers(3))
    assert is_open(shown, "layers_0 … 2")
    assert not is_open(shown, "mlp")
    row(shown, "mlp").click()
    link(shown, "layers_1_mlp").click()
    shown.wait_for_selector(".picked")
    (line,) = picked(shown)
    assert "layers_1_mlp_a = tanh" in shown.inner_text(f"#{line}")
    assert shown.evaluate("location.hash") == f"#{line}"
    assert shown.locator("svg").count() == 0
    shown.keyboard.press("g")  # the graph shows the line
    assert "layers_1_mlp_a" in shown.get_attribute(".g-chosen", "aria-label")
    shown.click("#jump")
    link(shown, "layers_1_mlp").click()
    assert shown.get_attribute(".g-chosen", "aria-label").startswith("layers_1_mlp, ")
    row(shown, "attn").click()
    link(shown, "layers_2_attn").click()
    assert shown.get_attribute(".g-chosen", "aria-label").startswith("layers_2_attn, ")
    link(shown, "layers_2_attn").click(modifiers=["Control"])  # a tab of its own changes nothing here
    shown.go_back()
    shown.wait_for_selector(f"#{line}.picked")


def test_folded_lines_of_the_text_are_unfolded(show: Show) -> None:
    shown = show(numbered_layers(3))
    shown.evaluate("document.querySelectorAll('main details').forEach((block) => { block.open = false; })")
    row(shown, "attn").click()
    for _ in range(2):  # also at the same address
        link(shown, "layers_2_attn").click()
        shown.wait_for_selector(".picked")
        assert shown.is_visible(".picked")


def test_keys_reach_every_row(show: Show) -> None:
    shown = show(numbered_layers(3))
    shown.keyboard.press("o")
    assert focused(shown) == "outline"
    words = "document.activeElement.innerText.split(':')[0]"
    seen = []
    for _ in range(4):
        shown.keyboard.press("Tab")
        seen.append(shown.evaluate(words))
    assert [each.split(f" {TIMES}")[0] for each in seen] == [
        "main(x) -> (layers_2_out)",
        "line 3",
        "layers_0 … 2",
        "attn",
    ]
    shown.keyboard.press("Enter")
    shown.keyboard.press("Tab")
    assert shown.evaluate(words) == "layers_0_attn"
    shown.keyboard.press("Enter")
    shown.wait_for_selector(".picked")
    assert "layers_0_attn_a" in shown.inner_text(".picked")


def test_the_outline_is_named_for_screen_readers(show: Show) -> None:
    shown = show(numbered_layers(3))
    assert shown.get_by_role("navigation", name="Outline").count() == 1
    assert shown.get_by_role("button", name="Outline").count() == 1
    row(shown, "attn").click()
    assert shown.get_by_role("link", name="layers_1_attn", exact=True).count() == 1


def test_a_text_without_functions_has_no_outline(show: Show) -> None:
    shown = show("program(1.3)\n{\n}\n")
    assert [shown.locator(each).count() for each in ("#outline", "#jump")] == [0, 0]
    shown.keyboard.press("o")


def test_odd_names_are_shown_and_lead(show: Show) -> None:
    shown = show(chain(*[f'$"a<b>&amp;\'{layer}_{part}_x"' for layer in range(3) for part in "pqr"]))
    assert f"a<b>&amp;'0 … 2 {TIMES}3: relu {TIMES}3" in shown.inner_text("#outline")
    row(shown, "a<b>&amp;\\'0 … 2").last.click()
    shown.locator("#outline a", has_text="a<b>&amp;'2").click()
    shown.wait_for_selector(".picked")
    assert "a<b>&amp;'2_p_x" in shown.inner_text(".picked")


def test_without_scripts_rows_unfold_and_links_lead(show: Show) -> None:
    shown = show(numbered_layers(3), scripts=False)
    row(shown, "attn").click()
    link(shown, "layers_1_attn").click()
    assert shown.url.endswith("#L10")
    assert "layers_1_attn_a" in shown.inner_text("#L10")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_outline_fits_a_phone_and_paper(scheme: str, show: Show) -> None:
    shown = show(layered(12), width=PHONE, height=844, scheme=scheme)
    assert shown.evaluate("document.scrollingElement.scrollWidth") == PHONE
    assert shown.evaluate("document.querySelector('header').offsetHeight") < 90
    shown.click("#show")
    assert shown.locator("#outline").bounding_box()["width"] == PHONE
    shown.emulate_media(media="print")
    assert [shown.is_visible(each) for each in ("#outline", "main", "#tools")] == [True, True, False]


def test_beside_the_graph_is_room_for_the_outline(show: Show) -> None:
    shown = show(layered(12))
    shown.click("#show")
    outline, graph = (shown.locator(each).bounding_box() for each in ("#outline", "#graph"))
    assert outline["x"] + outline["width"] <= graph["x"] + 1  # its border


def test_a_model_of_thousands_of_operations_is_on_one_screen(show: Show) -> None:
    encoder = CORPUS / "pairs" / "FluidAudio__160ms_streaming_encoder" / "model.mil"
    if not encoder.exists():
        pytest.skip("needs the corpus")
    shown = show(miltext.to_text(miltext.load(encoder).program), width=1440, height=900)
    box = shown.locator("#outline").bounding_box()
    assert 200 < box["y"] + box["height"] < 900
    row(shown, "feed_forward1, 2").click()
    link(shown, "encoder_layers_9_feed_forward2").click()
    shown.wait_for_selector(".picked")
    (line,) = picked(shown)
    node = shown.evaluate("line => data().nodes.find((node) => node[1] === 'op' && node[3] === line)", int(line[1:]))
    assert node is not None
