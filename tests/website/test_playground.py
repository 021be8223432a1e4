"""The playground in a real Chromium: on a desktop, and on a phone in the dark."""

from __future__ import annotations

import io
import re
import sys
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import EXAMPLE, ROOT

sys.path.insert(0, str(ROOT))

from support.browser import PHONE, Opener, served
from support.pipelines import piped, unary
from support.playground import Driver

if TYPE_CHECKING:
    from playwright.sync_api import Browser

GOOD = """program(1.3)
{
    func main<ios17>(tensor<fp32, [2]> image) {
            tensor<fp32, [2]> y = relu(x = image)[name = string("y")];
        } -> (y);
}
"""
WRONG = GOOD.replace("x = image", "x = imagge")
CUT = GOOD.replace('"y")];', '"y")]')


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the playground is served: built now, two folders below the top, as any site may have it."""
    if not (ROOT / "website" / "playground" / "node_modules").is_dir():
        pytest.skip("pyodide is not installed: run `npm ci` in website/playground")
    from website.playground.building import build

    top = tmp_path_factory.mktemp("site")
    build(top / "below" / "playground")
    with served(top) as place:
        yield f"{place}below/playground/"


@pytest.fixture(scope="module")
def opener(chromium: Browser) -> Iterator[Opener]:
    """Opens pages that tests share, as each starts a Python."""
    opener = Opener(chromium)
    yield opener
    opener.close()


@pytest.fixture(scope="module")
def shared(opener: Opener, url: str) -> Driver:
    return Driver(opener(url))


@pytest.fixture
def desktop(shared: Driver, opener: Opener) -> Iterator[Driver]:
    """A desktop's page, with its findings in sight. The test fails if the page does what it should not."""
    shared.shown("findings")
    yield shared
    assert opener.wrong == []


def zipped(folder: Path) -> bytes:
    """A folder as a zip, as file managers make it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
    return packed.getvalue()


WATCH = """() => {
    globalThis.seen = [];
    const tab = document.getElementById('tab-findings');
    new MutationObserver(() => seen.push(tab.textContent)).observe(tab, { childList: true });
}"""


# ---- findings


def test_no_pane_is_blank_before_python_runs() -> None:
    page = (ROOT / "website" / "playground" / "page" / "index.html").read_text(encoding="utf-8")
    before = {part: re.findall(rf'id="{part}"[^>]*><p class="quiet">([^<]+)', page) for part in ("editor", "pane")}
    assert before == {
        "editor": ["The editor is loading."],
        "pane": ["Python is starting in this page. The first findings take a few seconds."],
    }


def test_the_editor_replaces_the_notice_that_it_loads(desktop: Driver) -> None:
    assert desktop.page.locator("#editor > *").count() == 1


def test_a_mistake_is_found_and_fixed_by_a_click(desktop: Driver) -> None:
    desktop.write(WRONG)
    assert (desktop["#tab-findings"], desktop["#status"]) == ("Findings 1", "1 error")
    assert "`" not in desktop["#pane"]
    assert "imagge is not defined; did you mean image?" in desktop["#pane"]
    assert desktop.page.evaluate("() => document.querySelector('.findings a').href").endswith(
        "/below/diagnostics/#mil604"
    )
    assert desktop["#editor .cm-lintRange-error"] == "imagge"
    desktop.page.click(".place")
    assert desktop.page.evaluate("() => getSelection().toString()") == "imagge"
    desktop.click(".fix")
    assert "relu(x = image)" in desktop.text
    assert (desktop["#tab-findings"], desktop["#status"]) == ("Findings", "No problems found.")
    desktop.page.keyboard.press("Control+z")
    desktop.settle()
    assert "relu(x = imagge)" in desktop.text


def test_all_that_is_certain_is_fixed_at_once(desktop: Driver) -> None:
    desktop.write(CUT)
    desktop.click("#mend")
    assert desktop.text == GOOD
    assert desktop.page.locator("#mend").count() == 0


def test_typing_is_heard_key_by_key(desktop: Driver) -> None:
    desktop.write(GOOD)
    desktop.page.locator("#editor .cm-content").press("Control+End")
    desktop.page.keyboard.type("wor", delay=5)
    desktop.settle()
    assert desktop["#tab-findings"] == "Findings 1"


def test_a_newer_edit_takes_the_place_of_an_older_one(desktop: Driver) -> None:
    desktop.page.evaluate(WATCH)
    for text in (WRONG, CUT + WRONG, GOOD):
        desktop.page.locator("#editor .cm-content").fill(text)
    desktop.settle()
    assert desktop["#status"] == "No problems found."
    assert desktop.page.evaluate("() => seen.at(-1)") == "Findings"
    assert len(desktop.page.evaluate("() => seen")) < 3


def test_an_empty_text_is_nothing_to_check(desktop: Driver) -> None:
    desktop.write("")
    assert "Nothing to check" in desktop["#pane"]
    assert desktop.shown("program") == "There is no text yet."
    assert desktop.shown("graph") == "There is no text yet."


def test_characters_that_hide_are_shown(desktop: Driver) -> None:
    desktop.write("// \u202e\u200b\n" + GOOD)
    assert desktop.page.locator("#editor .cm-specialChar").count() == 2
    assert "MIL024" in desktop["#pane"]


def test_offsets_match_the_page(desktop: Driver) -> None:
    desktop.write("// \U0001f600\U0001f600 two\n" + WRONG)
    assert desktop["#editor .cm-lintRange-error"] == "imagge"


def test_focus_stays_in_the_rebuilt_list(desktop: Driver) -> None:
    desktop.write(WRONG.replace("-> (y)", "-> (yy)"))
    assert desktop["#tab-findings"] == "Findings 2"
    desktop.page.focus(".fix >> nth=0")
    desktop.page.keyboard.press("Enter")
    desktop.page.wait_for_function("() => document.getElementById('tab-findings').innerText === 'Findings 1'")
    assert desktop.page.evaluate("() => document.activeElement.closest('#pane') !== null")


# ---- the other tabs

DRAFT = GOOD.replace('tensor<fp32, [2]> y = relu(x = image)[name = string("y")]', "y = relu(  image)")
SHOWN = {
    "inferred": "tensor<fp32, [2]> y = relu(x = image);",
    "formatted": "y = relu(image);",
    "program": 'type: "relu"',
}


@pytest.mark.parametrize("tab", SHOWN)
def test_each_tab_shows_its_result_for_a_text(tab: str, desktop: Driver) -> None:
    desktop.write(DRAFT)
    assert SHOWN[tab] in desktop.shown(tab)
    assert desktop.page.get_attribute(f"#tab-{tab}", "aria-selected") == "true"
    desktop.write(DRAFT.replace("relu", "tanh"))
    assert SHOWN[tab].replace("relu", "tanh") in desktop["#pane"]
    desktop.write(WRONG + "}")
    if tab != "formatted":
        assert "imagge is not defined" in desktop["#pane"]
    assert "cannot be shown while the text has these errors" in desktop["#pane"]


def test_the_graph_leads_to_the_text(desktop: Driver) -> None:
    desktop.write(GOOD)
    desktop.shown("graph")
    desktop.page.locator(".g-op").first.click()
    assert desktop.page.evaluate("() => getSelection().toString()").strip().startswith("tensor<fp32, [2]> y = relu")


def test_a_made_text_can_take_the_place_of_the_text(desktop: Driver) -> None:
    desktop.write(DRAFT)
    desktop.shown("inferred")
    desktop.click("#pane .bar button:last-child")
    assert SHOWN["inferred"] in desktop.text


def test_tabs_are_walked_by_arrows(desktop: Driver) -> None:
    desktop.write(GOOD)
    desktop.page.focus("#tab-findings")
    for key, tab in (("ArrowLeft", "graph"), ("ArrowRight", "findings"), ("End", "graph"), ("Home", "findings")):
        desktop.page.keyboard.press(key)
        assert desktop.page.evaluate("() => document.activeElement.id") == f"tab-{tab}"
    desktop.settle()
    assert desktop.page.locator("[role=tab][tabindex='0']").count() == 1


def test_nans_that_this_protobuf_loses_are_reported(desktop: Driver) -> None:
    constant = 'tensor<fp32, [2]> c = const()[name = string("c"), val = tensor<fp32, [2]>([$0xffc00001, nan])];\n'
    desktop.write(GOOD.replace("            tensor", constant + "            tensor", 1).replace("x = image", "x = c"))
    program = desktop.shown("program")
    assert "A NaN has a sign or a payload" in program
    assert "floats {\n" in program or "nan" in program
    assert "$0xffc00001" in desktop.shown("inferred")


# ---- files


def test_a_dropped_text_is_opened(desktop: Driver) -> None:
    desktop.drop("a.mil", WRONG.replace("\n", "\r\n").encode())
    desktop.settle()
    assert desktop.text == WRONG
    assert "shown as line feeds" in desktop["#notice"]
    assert desktop["#tab-findings"] == "Findings 1"


def test_a_dropped_package_is_opened(desktop: Driver) -> None:
    desktop.drop("Classifier.zip", zipped(EXAMPLE))
    desktop.settle()
    assert desktop.text.startswith("program(1.3)\n[buildInfo")
    assert desktop["#status"] == "No problems found."


def test_one_of_the_programs_of_a_pipeline_is_chosen(desktop: Driver) -> None:
    spec = piped(unary("x", "between"), unary("between", "y", "second"))
    desktop.drop("two.mlmodel", spec.SerializeToString())
    desktop.settle()
    choices = desktop.page.locator("#notice button:not(#dismiss)")
    assert "These are 2 texts" in desktop["#notice"]
    assert choices.all_inner_texts() == ["two.mlmodel, model 0", "two.mlmodel, model 1"]
    assert "second" not in desktop.text
    desktop.click("#notice button >> nth=1")
    assert "second" in desktop.text


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.mlmodel", b"\xff\xfe broken", "these bytes are not a Core ML model"),
        ("a.zip", zipped(EXAMPLE)[:-100], "this is not a whole zip"),
        ("a.png", b"\x89PNG", "this is none of .mlpackage"),
        ("a.mil", b"\xff\xff", "this is not UTF-8 text"),
        ("a.npy", b"\x93NUMPY", "nothing but weights"),
    ],
)
def test_a_file_that_cannot_be_read_leaves_the_text(name: str, data: bytes, said: str, desktop: Driver) -> None:
    before = desktop.text
    desktop.drop(name, data)
    assert said in desktop["#notice"]
    assert desktop.text == before
    desktop.page.click("#dismiss")
    assert not desktop.page.is_visible("#notice")


def test_a_text_of_a_megabyte_is_opened(desktop: Driver) -> None:
    many = ", ".join(f"0x1.{number * 40503 % 65536:04x}p+3" for number in range(80_000))
    constant = f'tensor<fp32, [80000]> c = const()[name = string("c"), val = tensor<fp32, [80000]>([{many}])];\n'
    text = GOOD.replace("            tensor", constant + "            tensor", 1)
    assert len(text) > 1_000_000
    desktop.drop("large.mil", text.encode())
    desktop.settle()
    assert desktop["#status"] == "No problems found."
    desktop.page.click("#link")
    desktop.page.wait_for_selector("#notice:visible")
    assert "send the file" in desktop["#notice"]
    desktop.write(GOOD)


# ---- links, and a phone


def plain(text: str) -> str:
    """The fragment of a link from a browser that does not pack."""
    return f"#plain={urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


def test_back_from_a_link_the_own_text_is_there(desktop: Driver) -> None:
    desktop.write(GOOD)
    for fragment, shown in ((plain(WRONG), WRONG), (plain(""), "")):
        desktop.page.evaluate("() => { document.body.dataset.state = 'left' }")
        desktop.page.evaluate("fragment => { location.hash = fragment }", fragment)
        desktop.settle()
        assert desktop.text.strip() == shown.strip()
        assert shown or "Nothing to check" in desktop["#pane"]
        desktop.page.evaluate("() => { document.body.dataset.state = 'left'; history.back() }")
        desktop.settle()
        assert desktop.text == GOOD


# ---- a worker that does not start


def test_a_start_that_fails_is_reported_and_tried_again(opener: Opener, url: str) -> None:
    context = opener.browser.new_context()
    opener.contexts.append(context)
    context.route("**/worker.js", lambda route: route.fulfill(status=503, body="busy"))
    page = context.new_page()
    page.goto(f"{url}{plain(GOOD + ' ' * 100_000)}")
    page.wait_for_selector("#notice:visible")
    page.wait_for_function("() => document.body.dataset.state === 'failed'")
    assert "the worker did not start" in page.inner_text("#notice")
    context.unroute("**/worker.js")
    page.click("#tab-graph")
    page.wait_for_selector(".g-op", timeout=60_000)
    assert not page.is_visible("#notice")
    page.click("#tab-program")
    page.wait_for_function("() => document.getElementById('pane').innerText.includes('relu')")


def test_a_browser_without_workers_is_reported(opener: Opener, url: str) -> None:
    context = opener.browser.new_context()
    opener.contexts.append(context)
    page = context.new_page()
    uncaught: list[str] = []
    context.on("weberror", lambda error: uncaught.append(str(error.error)))
    page.add_init_script("delete window.Worker")
    page.goto(url)
    page.wait_for_selector("#notice:visible")
    assert "this browser starts none" in page.inner_text("#notice")
    page.wait_for_function("() => document.getElementById('status').innerText === ''")
    assert uncaught == []


def test_a_link_has_the_text_on_a_phone_in_the_dark(desktop: Driver, opener: Opener) -> None:
    desktop.write(WRONG)
    desktop.page.click("#link")
    desktop.page.wait_for_function("() => location.hash.startsWith('#text=')")
    link = desktop.page.url
    desktop.write(GOOD)
    assert "#" not in desktop.page.url
    phone = Driver(opener(link, width=PHONE, height=844, scheme="dark"))
    assert phone.text == WRONG
    assert phone.page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
    assert phone.page.evaluate("() => document.documentElement.scrollWidth") == PHONE
    phone.page.locator(".fix").tap()
    phone.page.wait_for_function("() => document.getElementById('status').innerText == 'No problems found.'")
    for tab in ("inferred", "program", "graph"):
        assert phone.shown(tab)
        assert phone.page.evaluate("() => document.documentElement.scrollWidth") == PHONE
    phone.page.evaluate("() => { location.hash = '#text=broken' }")
    phone.page.wait_for_selector("#notice:visible")
    assert "damaged" in phone["#notice"]
    assert phone["#status"] == "No problems found."
