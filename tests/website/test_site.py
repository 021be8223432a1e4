"""The built site: each thing of the code has its place, links lead somewhere, nothing is fetched from elsewhere."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from click.testing import CliRunner
from conftest import ROOT
from support.browser import PHONE, Opener, Serve

pytest.importorskip("material", reason="the site needs mkdocs-material: pip install -e '.[site]'")
pytest.importorskip("railroad", reason="the site needs railroad-diagrams: pip install -e '.[site]'")

sys.path.insert(0, str(ROOT))

import miltext
import miltext.testing
from miltext.cli import VERBS, command
from miltext.diagnostics import home
from miltext.diagnostics.codes import TITLES
from miltext.reference.entries import entries
from website import api, diagrams, grammar, making, verbs
from website.__main__ import main
from website.building import Refused, built
from website.links import family_page

HOME = home.site() or "https://site.invalid/"
LOADED = {
    ("link", "href"),
    ("script", "src"),
    ("img", "src"),
    ("source", "srcset"),
    ("iframe", "src"),
    ("object", "data"),
}
"""What a browser fetches for a page; a link's, but for those that only name an address."""
NAMED = {"canonical", "prev", "next", "alternate", "edit"}


FAINT = """() => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const linear = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    const luminance = (colour) => {
        const [red, green, blue] = parts(colour).map(linear);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const ground = (element) => {
        for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if ((parts(colour)[3] ?? 1) === 1) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    const speaks = (element) => element.offsetParent && getComputedStyle(element).visibility === "visible" &&
        [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    const contrast = (element) => {
        const pair = [getComputedStyle(element).color, ground(element)].map(luminance);
        return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    };
    return [...document.querySelectorAll("body *")].filter((each) => speaks(each) && contrast(each) < 4.5)
        .map((each) => `${each.tagName}.${each.className}: ${each.textContent.trim().slice(0, 30)}`);
}"""
"""The elements of a page whose text is too faint, as WCAG measures it (level AA)."""


NOT_PROSE = ("pre", "script", "style", "svg")


class Page(NamedTuple):
    """What a page has: its anchors, where its links lead, what it is made of, and its words."""

    anchors: set[str]
    links: list[str]
    loads: list[str]
    text: str
    words: int


class Reading(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors, self.links, self.loads, self.words = set[str](), list[str](), list[str](), list[str]()
        self.prose, self._is_prose, self._code = list[str](), False, 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name.removeprefix("xlink:"): value or "" for name, value in attrs}
        self._is_prose = self._is_prose or (tag == "article" and "md-content__inner" in given.get("class", ""))
        self._code += tag in NOT_PROSE
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        for name, value in given.items():
            if (tag, name) in LOADED and given.get("rel") not in NAMED:
                self.loads.append(value)

    def handle_endtag(self, tag: str) -> None:
        self._is_prose = self._is_prose and tag != "article"
        self._code -= tag in NOT_PROSE

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self._is_prose and not self._code:
            self.prose.append(data)


def read(path: Path) -> Page:
    reading = Reading()
    reading.feed(path.read_text(encoding="utf-8"))
    words = len(" ".join(reading.prose).split())
    return Page(reading.anchors, reading.links, reading.loads, "".join(reading.words), words)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built(folder, playground=False)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    """Each page by its address below the site's: `verbs/check/`."""
    found = {path.relative_to(site).as_posix().removesuffix("index.html"): path for path in site.rglob("*.html")}
    ours = {name: path for name, path in found.items() if not name.startswith("playground/")}
    return {name: read(path) for name, path in ours.items()}


def test_each_verb_has_a_complete_page(pages: dict[str, Page]) -> None:
    import click

    context = click.Context(command, info_name="miltext")
    for name in VERBS:
        text = pages[f"verbs/{name}/"].text
        verb = command.get_command(context, name)
        assert verb is not None
        options = [option for each in verb.params if isinstance(each, click.Option) for option in each.opts]
        assert [option for option in options if option not in text] == []
        examples = [line.strip() for line in (verb.epilog or "").splitlines() if line.startswith("  miltext")]
        assert [example for example in examples if example not in text] == []
        assert f"verbs/{name}/" in {urljoin("verbs/", link) for link in pages["verbs/"].links}


def test_each_diagnostic_has_a_page_and_a_row(pages: dict[str, Page]) -> None:
    index = pages["diagnostics/"]
    assert {code.lower() for code in TITLES} <= index.anchors
    for code, title in TITLES.items():
        page = pages[f"diagnostics/{code.lower()}/"]
        assert code.lower() in page.anchors
        assert f"{code}: {title.replace('`', '')}" in page.text
        assert f"{code.lower()}/#{code.lower()}" in index.links


MOST = 3000
"""The most words of a page, without its code blocks: more are several pages."""


def test_no_page_is_long(pages: dict[str, Page]) -> None:
    assert {name: page.words for name, page in pages.items() if page.words > MOST} == {}
    assert pages["evaluation/"].words > 1000  # it counts


def test_each_old_anchor_of_a_divided_page_leads_on(pages: dict[str, Page]) -> None:
    for name, own in making.places().items():
        index = pages[name.removesuffix("md").rstrip(".") + "/"]
        sections = {anchor for anchor, page in own.items() if anchor and page.endswith(f"/{anchor}.md")}
        assert len(sections) > 2
        assert sections <= index.anchors


SEARCHES = {
    "stateful": "run-a-model",
    "multifunction": "merge-two-packages",
    "KV cache": "run-a-model",
    "netron": "look-at-a-model",
    "MIL604": "mil604",
}
"""Words that people search for, and a page that must be among the first three."""


@pytest.mark.parametrize("words", SEARCHES)
def test_a_search_finds_a_fitting_page(words: str, site: Path, serve: Serve, open_page: Opener) -> None:
    page = open_page(f"{serve(site)}?q={words.replace(' ', '+')}")
    page.locator(".md-search-result__item").first.wait_for()
    found = [link.get_attribute("href") or "" for link in page.locator(".md-search-result__link").all()[:3]]
    assert any(SEARCHES[words] in link for link in found), found


def test_each_operation_has_place_and_its_old_anchor_leads_there(pages: dict[str, Page]) -> None:
    assert len(entries()) > 160
    for name, entry in entries().items():
        family = family_page(entry.family).removesuffix(".md").removeprefix("operations/")
        assert name in pages[f"operations/{family}/"].anchors
        assert f"{family}/#{name}" in pages["operations/"].links
        assert name in pages["operations/"].anchors


def test_each_public_name_has_a_place(pages: dict[str, Page]) -> None:
    places = [pages[f"api/{name}/"].anchors for name in ("options", "parts")]
    places += [page.anchors for name, page in pages.items() if name.startswith(("api/functions/", "api/classes/"))]
    assert {*miltext.__all__} <= set().union(*places)
    assert {*miltext.testing.__all__, "mil_golden", "MilGolden.check"} <= pages["api/testing/"].anchors
    assert {*api.reached(), "aliases", "Weight", "Change"} <= pages["api/parts/"].anchors
    assert {"Model.program", "Model.save", "Model.weights", "Difference.to_json"} <= set().union(*places)


def test_each_rule_and_token_of_the_grammar_has_a_place(pages: dict[str, Page]) -> None:
    text = "\n".join((ROOT / "grammar" / name).read_text(encoding="utf-8") for name in grammar.FILES)
    names = re.findall(r"^(\w+)(?:\.\d)?:", text, re.MULTILINE)
    assert len(names) > 70
    page = pages["grammar/"]
    assert {*names} <= page.anchors
    used = {name for name in names if re.search(rf"^(?!{name}\b).*\b{name}\b", text, re.MULTILINE)}
    assert {f"#{name}" for name in used} <= {*page.links}


def test_each_link_leads_to_a_page_and_an_anchor_that_are_there(pages: dict[str, Page], site: Path) -> None:
    lost = []
    for name, page in pages.items():
        for link in {*page.links, *page.loads}:
            target = urlsplit(urljoin(HOME + name, link))
            address = target._replace(fragment="").geturl()
            if not address.startswith(HOME):
                continue
            path, anchor = unquote(address.removeprefix(HOME)), unquote(target.fragment)
            there = (site / path / "index.html" if path in ("", *pages) else site / path).exists() or path in pages
            if not there or (anchor and path in pages and anchor not in pages[path].anchors):
                lost.append((name, link))
    assert lost == []


def test_nothing_is_fetched_from_elsewhere(pages: dict[str, Page], site: Path) -> None:
    assert [(name, load) for name, page in pages.items() for load in page.loads if "//" in load] == []
    styles = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.css")}
    assert len(styles) >= 3
    assert [
        path for path, style in styles.items() if re.search(r"(?:url\(|@import)[\s\"']*(?:https?:)?//", style)
    ] == []


def test_mil_in_pages_is_highlighted_by_our_lexer(site: Path) -> None:
    page = (site / "operations" / "convolution" / "index.html").read_text(encoding="utf-8")
    assert '<div class="language-mil highlight">' in page
    assert re.search(r'<span class="nv">\w+</span>.*<span class="nb">conv</span>', page)
    report = (site / "diagnostics" / "mil604" / "index.html").read_text(encoding="utf-8")
    assert '<span class="gr">error[MIL604]:</span>' in report


def test_a_rule_that_shares_a_paragraph_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "grammar").mkdir()
    (tmp_path / "grammar" / "mil.lark").write_text('a: B\n\nB: "x"\n', encoding="utf-8")
    (tmp_path / "grammar" / "mil_fast.lark").write_text('c: D\nD: "x"\n', encoding="utf-8")
    monkeypatch.setattr(grammar, "ROOT", tmp_path)
    with pytest.raises(ValueError, match=r"mil_fast\.lark: `D` does not begin a paragraph of its own"):
        grammar.sections()


@pytest.mark.parametrize(
    ("rule", "names", "words"),
    [
        ('a: b ("," b)*', ["b"], [","]),  # one b or more, with commas between
        ('a: (b ("," b)*)?', ["b"], [","]),
        ('a: b ("," c)*', ["b", "c"], [","]),
        ('a: "x"+ | [b] "y"?', ["b"], ["x", "y"]),
        ("a: /[a-z<]+/", [], ["/[a-z&lt;]+/"]),
        ('a: "a" b "c" b "d" b "e" b "f" b "g" b', ["b"] * 6, [*"acdefg"]),  # in several rows
    ],
)
def test_a_diagram_has_each_item_of_its_rule_once(rule: str, names: list[str], words: list[str]) -> None:
    (expression,) = grammar.expressions(f"{rule}\n").values()
    picture = diagrams.drawn(expression, {"b"})
    assert re.findall(r'<a xlink:href="#b"><text[^>]*>(\w)</text>', picture) == [name for name in names if name == "b"]
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    assert sorted(shown) == sorted(names + words)


def test_every_diagram_is_whole() -> None:
    parts = [part for section in grammar.sections() for part in section.parts if isinstance(part, grammar.Definition)]
    pictures = {each.name: diagrams.drawn(each.expression, set()) for each in parts}
    assert len(pictures) > 70
    for name, picture in pictures.items():
        width, height = map(float, re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)[0])
        boxes = re.findall(r'<rect height="(\d+)".*? width="([\d.]+)" x="([\d.]+)" y="([\d.]+)"', picture)
        assert boxes, name
        assert max(float(y) + float(high) for high, _, _, y in boxes) <= height, name
        assert max(float(x) + float(wide) for _, wide, x, _ in boxes) <= width, name


def test_each_exit_status_is_reported_with_its_meaning() -> None:
    text = " 0 it is well; 1 it is\nwrong; see the report; 2 usage; 128 and its number after a signal."
    assert verbs.statuses(text) == [
        ("0", "it is well"),
        ("1", "it is wrong; see the report"),
        ("2", "usage"),
        ("128", "and its number after a signal"),
    ]


def test_the_command_shows_the_error_and_fails(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x", encoding="utf-8")
    done = CliRunner().invoke(main, ["build", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "is not a site that was made here" in done.output


def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(Refused, match="is not a site that was made here"):
        built(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_word_finds_rows_and_pages_in_a_browser(site: Path, serve: Serve, open_page: Opener) -> None:
    home = serve(site)
    page = open_page(f"{home}operations/", width=PHONE, scheme="dark")
    field = page.get_by_label("Find in this table")
    field.fill("matrix product")
    rows = page.locator(".find tbody tr:visible")
    assert "matmul" in rows.all_inner_texts()[0] + rows.all_inner_texts()[-1]
    assert rows.count() < 20
    field.fill("constexpr_cast")
    field.press("Enter")
    page.wait_for_url("**/operations/compressed-constants/#constexpr_cast")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    page.goto(f"{home}?q=MIL604")  # the theme's own links to a search
    page.locator(".md-search-result__item").first.wait_for()
    assert "MIL604" in page.locator(".md-search-result__item").first.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(scheme: Literal["light", "dark"], site: Path, serve: Serve, open_page: Opener) -> None:
    home = serve(site)
    page = open_page(home, width=PHONE, scheme=scheme)
    for name in ("", "verbs/check/", "diff/"):
        page.goto(home + name)
        assert page.evaluate(FAINT) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    page.add_style_tag(content="* { color: #777 !important; transition: none !important }")
    assert page.evaluate(FAINT) != []
