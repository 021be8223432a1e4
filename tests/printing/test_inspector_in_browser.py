"""The inspector of the HTML page in a real Chromium: what it says of nodes, its keys, its address, and a phone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import CORPUS, ROOT
from models.test_page_weights import POINTER
from printing.test_graph import ELIDED, LOOP, chain, function, layered
from printing.test_html_page import TEXT
from support.browser import PHONE, Opener
from support.short_drafts import WITH_BLOCKS

from miltext.printing.graph_calls import WeightFacts
from miltext.printing.html_page import page

if TYPE_CHECKING:
    from playwright.sync_api import Page

Show = Callable[..., "Page"]

FACTS = WeightFacts("fp16", "[9]", 9, 18, "@model_path/w.bin", 64, "", ("-1", "2.5", "0.75", 0.125, 9))
ODD = '$"<b>&\\"層 1"'


@pytest.fixture
def show(tmp_path: Path, open_page: Opener) -> Show:
    """Opens the page of a text, whose weights all have the same facts."""

    def opened(text: str, fragment: str = "", facts: WeightFacts = FACTS, **window: Any) -> Page:
        def read(spellings: Sequence[str]) -> list[WeightFacts]:
            return [facts] * len(spellings)

        path = tmp_path / "page.html"
        path.write_text(page(text, "A model.mlpackage", read), encoding="utf-8")
        return open_page(path.as_uri() + fragment, **window)

    return opened


def node(shown: Page, said: str) -> Any:
    return shown.locator(f".g-node[aria-label^='{said},']").last


def title(shown: Page) -> str:
    """The title of the inspector, empty if it is closed."""
    return shown.inner_text("#inspector h2") if shown.is_visible("#inspector") else ""


def rows(shown: Page, section: str) -> dict[str, str]:
    """What a section of the inspector says, by its names."""
    return {
        str(name): " ".join(str(words).split())
        for name, words in shown.locator(f"#inspector section:has(h3:text-is('{section}')) > dl").evaluate_all(
            "lists => lists.flatMap((list) => [...list.querySelectorAll(':scope > dt')]"
            ".map((each) => [each.innerText, each.nextElementSibling.innerText]))"
        )
    }


def test_a_click_shows_an_operation_and_its_values(show: Show) -> None:
    shown = show(LOOP)
    shown.keyboard.press("g")
    node(shown, "less").click()
    assert title(shown) == "less go"
    assert rows(shown, "Inputs") == {
        "x": "b input tensor<fp16, [2]>",
        "y": "half fp16 0x1p-1",
    }
    assert rows(shown, "Attributes") == {"name": '"go"'}
    assert rows(shown, "Outputs") == {"go": "bool 1 user: output go"}
    assert shown.inner_text("#inspector p") == "line 7 · function main \u203a while_loop \u203a block cond"
    assert shown.evaluate("location.hash") == "#value=go"
    assert shown.get_attribute(".picked", "id") == "L7"
    shown.click("#inspector a:text-is('half')")  # a constant, which is hidden: its user stays chosen
    assert (title(shown), shown.get_attribute(".picked", "id")) == ("const half", "L4")
    assert rows(shown, "Attributes") == {"val": "0x1p-1"}
    assert shown.evaluate("document.activeElement.tagName") == "H2"
    shown.click("#inspector a:text-is('less go')")
    assert (title(shown), shown.get_attribute(".g-chosen", "aria-label").split(",")[0]) == ("less go", "less")
    shown.click("#inspector a:text-is('line 7')")
    assert shown.get_attribute(".picked", "id") == "L7"
    shown.click("#L10 .v")  # a value of the text
    assert title(shown) == "relu a"


def test_inputs_outputs_and_operations_with_blocks(show: Show) -> None:
    shown = show(LOOP)
    shown.keyboard.press("g")
    node(shown, "x").click()
    assert (title(shown), rows(shown, "Value")) == ("input x", {"x": "tensor<fp16, [2]> 1 user: while_loop n"})
    node(shown, "n").click()
    assert (title(shown), rows(shown, "Value")) == ("output n", {"from": "n from while_loop tensor<fp16, [2]>"})
    shown.click("#inspector a:text-is('n')")
    assert title(shown) == "while_loop n"
    assert rows(shown, "Inputs") == {"loop_vars": "x input tensor<fp16, [2]>"}
    node(shown, "while_loop").click(position={"x": 20, "y": 10})  # folds, and says what it is
    assert (title(shown), node(shown, "while_loop").get_attribute("aria-expanded")) == ("while_loop n", "false")


def test_states_and_functions_are_named(show: Show) -> None:
    shown = show(TEXT, "#s")
    assert (title(shown), rows(shown, "Value")) == ("input s", {"s": "state<tensor<fp16, [2]>> 1 user: two a"})
    shown.evaluate("location.hash = '#value=x@2'")
    shown.wait_for_function("document.querySelector('#inspector p').innerText === 'line 15 \\u00b7 function other'")
    assert rows(shown, "Value") == {"x": "tensor<fp16, [1]> 1 user: output x"}
    shown.evaluate("location.hash = '#value=n'")
    shown.wait_for_function("document.querySelector('#inspector h2').innerText === 'while_loop n'")
    shown.click("#inspector section:has(h3:text-is('Inputs')) a")  # the operation with two outputs
    assert rows(shown, "Outputs") == {
        "a": "list<tensor<fp16, [1]>, 2> 1 user: output a",
        "b": "tensor<fp16, [2]> 2 users: while_loop n, output b",
    }
    assert rows(shown, "Inputs") == {
        "x": "x input tensor<fp16, [1, ?]>",
        "y": "x input tensor<fp16, [1, ?]> s input state<tensor<fp16, [2]>>",
        "z": "tensor<int32, [2]>([1, 2])",
    }


def test_keys_open_and_close_it(show: Show) -> None:
    shown = show(LOOP)
    shown.keyboard.press("g")
    for key in ("ArrowDown", "Enter", "Enter"):  # folds the operation, and unfolds it
        shown.keyboard.press(key)
    assert title(shown) == "while_loop n"
    shown.keyboard.press("Tab")
    assert shown.evaluate("document.activeElement.closest('#inspector') !== null")
    shown.keyboard.press("Escape")
    assert (title(shown), shown.is_visible("#graph")) == ("", True)
    assert shown.evaluate("document.activeElement.classList.contains('g-chosen')")
    shown.keyboard.press("Enter")
    shown.click("#inspector button")
    assert (title(shown), shown.locator(".g-chosen").count()) == ("", 1)
    node(shown, "x").click()
    shown.click("#show")  # the graph and its inspector
    shown.click("#show")
    assert title(shown) == ""


@pytest.mark.parametrize(
    ("text", "fragment", "expected"),
    [
        (LOOP, "#value=go", "less go"),
        (LOOP, "#go", "less go"),
        (LOOP, "#half", "const half"),
        (TEXT, "#value=a", "two "),
        (TEXT, "#value=a@2", "relu a"),
        (TEXT, "#value=x@2", "input x"),
        (chain("v1", "L3"), "#value=L3", "relu L3"),
        (chain("v1", "L3"), "#value=v1", "relu v1"),
        (chain("v1", "L3"), "#v1", ""),
        (chain(ODD, "y"), "#value=%24%22%3Cb%3E%26%5C%22%E5%B1%A4%201%22", f"relu {ODD}"),
        *[(LOOP, f"#{odd}", "") for odd in ("", "value=", "value=none", "go@2", "%", "value=%E0", "graph", "L7")],
    ],
)
def test_an_address_opens_it(text: str, fragment: str, expected: str, show: Show) -> None:
    shown = show(text, fragment)
    assert title(shown).strip() == expected.strip()
    assert shown.is_visible("#graph") == bool(expected)
    if expected:
        assert shown.locator(".picked").count() == 1
        before = shown.evaluate("location.hash")
        shown.evaluate("location.hash = '#L1'")
        shown.evaluate(f"location.hash = {before!r}")  # the address that it wrote leads back
        shown.wait_for_function("document.querySelector('.picked').id !== 'L1'")
        assert title(shown).strip() == expected.strip()


WEIGHT = (
    "tensor<fp16, [9]> size 9 elements, 18 bytes in @model_path/w.bin, offset 64 min -1 max 2.5 mean 0.75 zeros 12.5 %"
)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (FACTS, WEIGHT),
        (FACTS._replace(elements=1 << 30, size=1 << 31, file=""), "first 9 elements"),
        (
            FACTS._replace(elements=1 << 30, size=1 << 31, file=""),
            "1,073,741,824 elements, 2,147,483,648 bytes (2.00 GiB)",
        ),
        (FACTS._replace(statistics=None, reason="the file is <gone>"), "offset 64 not read: the file is <gone>"),
        (WeightFacts(reason="left out"), "tensor<fp16, [9]> not read: left out"),
        (WeightFacts("fp16", "[0]"), "type fp16 shape [0] size no elements"),
    ],
)
def test_a_weight_is_shown_where_it_is_used_and_where_it_is_made(facts: WeightFacts, expected: str, show: Show) -> None:
    shown = show(ELIDED, "#value=y", facts)
    assert expected in rows(shown, "Inputs")["y"]
    shown.click("#inspector a:text-is('w')")
    assert expected.removeprefix("tensor<fp16, [9]> ") in rows(shown, "Attributes")["val"]
    assert rows(shown, "Outputs") == {"w": "tensor<fp16, [9]> 1 user: mul y"}


def test_operations_inside_others_and_missing_values(show: Show) -> None:
    shown = show(WITH_BLOCKS, "#value=last")
    assert title(shown) == "mul last"
    for text, value in ((TEXT, "x"), (function("fp16 y = relu(x = z);", outputs="y"), "y")):
        assert title(show(text, f"#value={value}")).endswith(value)


@pytest.mark.parametrize("text", ["program(1.3)\n{\n}\n", function(outputs="x"), function(inputs="", outputs="")])
def test_texts_without_operations(text: str, show: Show) -> None:
    shown = show(text, "#value=none")
    shown.keyboard.press("g")
    shown.keyboard.press("Enter")
    assert title(shown) in ("", "input x")


def test_markup_in_names_is_text(show: Show) -> None:
    line = f'fp16 {ODD} = custom(x = x)[a = string("<img src=x>")];'
    shown = show(function(line, inputs="fp16 x", outputs=ODD))
    shown.keyboard.press("g")
    node(shown, "custom").click()
    assert (title(shown), rows(shown, "Attributes")) == (f"custom {ODD}", {"a": '"<img src=x>"'})


@pytest.mark.parametrize("width", [900, 1280, 1600])
def test_the_inspector_leaves_room_for_the_graph(width: int, show: Show) -> None:
    wide = ", ".join(f"tensor<fp16, [2]> x{at}" for at in range(8))
    lines = [f"tensor<fp16, [2]> y{at} = relu(x = x{at});" for at in range(8)]
    shown = show(function(*lines, inputs=wide, outputs=", ".join(f"y{at}" for at in range(8))), "#y7", width=width)
    panel, view, chosen = (shown.locator(each).bounding_box() for each in ("#inspector", ".g-view", ".g-chosen"))
    for box in (panel, view):
        assert width / 2 <= box["x"] < box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= 800
    assert view["x"] <= chosen["x"] < chosen["x"] + chosen["width"] <= view["x"] + view["width"]
    assert view["y"] <= chosen["y"] < chosen["y"] + chosen["height"] <= view["y"] + view["height"]
    assert panel["y"] >= view["y"] + view["height"] or panel["x"] >= view["x"] + view["width"]


def test_on_a_phone_it_is_a_sheet_at_the_bottom(show: Show) -> None:
    name = "encoder_" + "very_long_name_" * 8 + "0"
    shown = show(chain(name, "y"), width=PHONE, height=844)
    shown.tap("#show")
    node(shown, "relu").tap()
    shown.evaluate(f"location.hash = '#value={name}'")
    shown.wait_for_function(f"document.querySelector('#inspector h2').innerText.includes('{name}')")
    sheet = shown.locator("#inspector").bounding_box()
    assert (sheet["x"], sheet["width"], sheet["y"] + sheet["height"]) == (0, PHONE, 844)
    assert sheet["height"] <= 844 * 0.6 + 1
    assert shown.evaluate("document.scrollingElement.scrollWidth") == PHONE
    wide = "(() => { const e = document.getElementById('inspector'); return e.scrollWidth - e.clientWidth; })()"
    assert shown.evaluate(wide) == 0
    line = shown.locator(".picked").bounding_box()
    assert line["y"] + line["height"] < sheet["y"]
    shown.tap("#inspector button")
    assert title(shown) == ""


PAGES = {
    "example": (ROOT / "examples" / "Classifier.mlpackage", (), "conv", "min"),
    "compact": (ROOT / "examples" / "Classifier.mlpackage", ("--compact",), "conv", "min"),
    "elided": (ROOT / "examples" / "Classifier.mlpackage", ("--elide", "4"), "conv", "min"),
    "compressed": (CORPUS / "bundles/mobius-unified_int8.mlpackage", (), "constexpr_affine_dequantize", "zeros"),
    "palettized": (CORPUS / "bundles/mobius-unified_palette_4bit.mlmodelc", (), "constexpr_lut_to_dense", "zeros"),
    "without weights": (CORPUS / "pairs/FluidAudio__160ms_streaming_encoder/model.mlmodel", (), "conv", "not read:"),
    "a text": (CORPUS / "pairs/FluidAudio__160ms_streaming_encoder/model.mil", (), "conv", "not read:"),
}


@pytest.mark.parametrize(("path", "options", "operation", "said"), PAGES.values(), ids=list(PAGES))
def test_pages_of_real_models(
    path: Path, options: tuple[str, ...], operation: str, said: str, tmp_path: Path, open_page: Opener
) -> None:
    if not path.exists():
        pytest.skip("no corpus of real models here")
    out = tmp_path / "m.html"
    subprocess.run(
        [sys.executable, "-m", "miltext", "print", str(path), "--html", *options, "-o", str(out)], check=True
    )
    shown = open_page(out.as_uri())
    shown.keyboard.press("g")
    if operation.startswith("constexpr"):
        shown.check(".g-bar input[type=checkbox]")
    shown.select_option(".g-bar select", "type")
    shown.fill(".g-bar input[type=search]", operation)
    assert "1 of " in shown.inner_text(".g-told")
    shown.locator(".g-chosen").click()
    assert title(shown).split()[0] == operation
    assert said in shown.inner_text("#inspector")


def test_a_pointer_of_git_lfs_is_named(tmp_path: Path, open_page: Opener) -> None:
    model = tmp_path / "M.mlpackage"
    shutil.copytree(ROOT / "examples" / "Classifier.mlpackage", model)
    for weights in model.rglob("weight.bin"):
        weights.write_bytes(POINTER)
    out = tmp_path / "m.html"
    subprocess.run([sys.executable, "-m", "miltext", "print", str(model), "--html", "-o", str(out)], check=True)
    shown = open_page(out.as_uri() + "#edges_cast_fp16")
    assert "not read: " in rows(shown, "Inputs")["weight"]
    assert "git-lfs" in rows(shown, "Inputs")["weight"]


def test_every_node_can_be_inspected(show: Show) -> None:
    for text in (TEXT, LOOP, WITH_BLOCKS, ELIDED, layered(3)):
        shown = show(text)
        shown.keyboard.press("g")
        titles = shown.evaluate(
            "data().nodes.map(([, kind], id) => ['op', 'const', 'input', 'output'].includes(kind) && (inspect(id),"
            "document.querySelector('#inspector h2').innerText)).filter(Boolean)"
        )
        assert len(titles) > 3
        assert [each for each in titles if "undefined" in each] == []
        assert "undefined" not in shown.inner_text("#inspector")
