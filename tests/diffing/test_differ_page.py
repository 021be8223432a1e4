"""The page of a difference in a real Chromium: links between what is told and the texts, keys, folds, a phone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from support.browser import CUT, PHONE, Opener

import miltext

NAMES = ["x", *[f"v{index}" for index in range(60)]]
OLD = "program(1.3)\n{{ func main<ios18>(fp16 x) {{ {} }} -> (v59); }}".format(
    " ".join(
        f"fp16 {name} = leaky_relu(x = {taken}, alpha = fp16(0.{index + 1}));"
        for index, (taken, name) in enumerate(pairwise(NAMES))
    )
)
NEW = OLD.replace("v20 = leaky_relu", "v20 = elu").replace("fp16(0.41)", "fp16(0.5)").replace("v30", "other")
TITLE = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of two programs: `v20` is made otherwise, `v40` from another number, `v30` is called `other`."""
    path = tmp_path_factory.mktemp("page") / "diff.html"
    path.write_text(miltext.diff(miltext.parse(OLD), miltext.parse(NEW)).to_html(), encoding="utf-8")
    return path.as_uri()


def test_entries_and_lines_lead_to_each_other(url: str, open_page: Opener) -> None:
    page = open_page(url)
    page.locator("li.change", has_text="v20: elu").locator("a").first.click()
    row = page.locator(".row:target")
    assert "v20 = leaky_relu(alpha" in row.locator("div").first.inner_text()
    assert "v20 = elu(alpha" in row.locator("div").nth(1).inner_text()
    assert row.locator("mark").all_inner_texts() == ["leaky_relu", "elu"]
    sides = [row.locator("div").nth(side).bounding_box() for side in (0, 1)]
    assert len({box["y"] for box in sides if box}) == 1
    row.locator("> a").click()
    assert page.locator("li:target > span").inner_text() == "v20: elu"
    renamed = page.locator(".row.name", has=page.locator("mark", has_text="other")).first
    assert renamed.locator("mark").all_inner_texts()[0] == "v30"


def test_keys_and_buttons_go_from_change_to_change(url: str, open_page: Opener) -> None:
    page = open_page(url)
    steps = page.locator("#steps output")
    assert steps.inner_text() == "3 places"
    seen = []
    for press in ("n", "n", "n", "n", "p"):
        page.keyboard.press(press)
        seen.append(page.locator(".row.now > div").nth(1).inner_text().split(" = ")[0].split()[-1])
    assert seen == ["v20", "other", "v40", "v20", "v40"]
    assert steps.inner_text() == "3 of 3"
    page.get_by_title("Next change (n)").click()
    assert steps.inner_text() == "1 of 3"
    page.keyboard.press("Control+n")
    assert steps.inner_text() == "1 of 3"


def test_a_selection_is_in_one_pane(url: str, open_page: Opener) -> None:
    page = open_page(url, height=1600)
    first, last = (page.locator(".row.change").nth(which).locator("> div").nth(1).bounding_box() for which in (0, 1))
    assert first
    assert last
    page.mouse.move(first["x"] + 120, first["y"] + 8)
    page.mouse.down()
    page.mouse.move(last["x"] + 300, last["y"] + 8, steps=5)
    page.mouse.up()
    selected = page.evaluate("getSelection().toString()")
    assert "elu(alpha" in selected
    assert "v20 = leaky_relu" not in selected


def test_equal_lines_are_folded_and_a_link_unfolds_them(url: str, open_page: Opener) -> None:
    page = open_page(url)
    folds = page.locator("#texts details")
    titles = [f"{count} equal lines" for count in (14, 18)]
    assert folds.locator("summary").all_inner_texts() == titles
    hidden = folds.first.locator(".both").nth(2)
    assert not hidden.is_visible()
    page.evaluate("id => { location.hash = id }", hidden.get_attribute("id"))
    hidden.wait_for(state="visible")
    page.locator(".row", has_text="v20 = elu").locator("div a").nth(1).click()  # to where v19 is made
    assert "v19 = leaky_relu" in page.locator(".row:target").inner_text()


def test_on_a_phone_lines_are_one_below_the_other(url: str, open_page: Opener) -> None:
    page = open_page(url, width=PHONE, scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
    old, new = (page.locator(".row.change > div").nth(side).bounding_box() for side in (0, 1))
    assert old
    assert new
    assert old["x"] == new["x"]
    assert old["y"] + old["height"] == pytest.approx(new["y"])


@pytest.mark.parametrize("width", [1280, PHONE])
def test_long_names_are_shown_in_full(width: int, tmp_path: Path, open_page: Opener) -> None:
    names = [f"Encoder_{'x' * 150}_{side}.mil" for side in ("old", "new")]
    for name, text in zip(names, (OLD, NEW), strict=True):
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = tmp_path / "diff.html"
    path.write_text(miltext.diff(*[tmp_path / name for name in names]).to_html(), encoding="utf-8")
    page = open_page(path.as_uri(), width=width, height=844)
    told = page.inner_text("h1")
    assert all(name in told for name in names)
    assert page.evaluate(CUT) == [0, 0]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.locator(".row").last.scroll_into_view_if_needed()
    title, steps = (page.locator(each).bounding_box() for each in ("h1", "#steps"))
    assert title is not None
    assert steps is not None
    assert 0 <= steps["y"] < 844 / 4  # they stay, and the title leaves room
    assert title["y"] + title["height"] < 844 / 4


def test_without_a_script_all_can_be_read(url: str, open_page: Opener) -> None:
    page = open_page(url, scripts=False)
    assert not page.locator("#steps").is_visible()
    page.locator("li.change", has_text="v20: elu").locator("a").first.click()
    assert "v20 = elu" in page.locator(".row:target").inner_text()
    page.locator("#texts summary").first.click()
    assert page.locator(".both").first.is_visible()
    assert not page.locator("#tools").is_visible()
    page.locator("#legend summary").click()
    assert page.locator("#legend").get_by_text("removed: only in the old model").is_visible()


def test_nothing_that_a_name_states_is_run(tmp_path: Path, open_page: Opener) -> None:
    text = OLD.replace("v20", f"${miltext.syntax.literals.quote(TITLE)}")
    other = text.replace("v21 = leaky_relu", "v21 = elu")
    (tmp_path / "odd.html").write_text(miltext.diff(miltext.parse(text), miltext.parse(other)).to_html(), "utf-8")
    page = open_page((tmp_path / "odd.html").as_uri())
    assert page.locator("img").count() == 0
    assert TITLE.replace('"', '\\"') in page.locator(".row", has_text="onerror").first.inner_text()


def test_the_filter_opens_folded_lines_and_closes_them_again(url: str, open_page: Opener) -> None:
    page = open_page(url)
    hidden = page.locator(".both", has_text="v10 = ").first
    assert not hidden.is_visible()
    page.fill("#filter", "v10 =")
    hidden.wait_for(state="visible")
    page.fill("#filter", "")
    hidden.wait_for(state="hidden")
