"""What makes pages of the repository pages of the site: links, lists, fences, and the parts of help and docstrings."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Check
from pygments.lexers import get_lexer_by_name
from pygments.token import Error, Generic

sys.path.insert(0, str(ROOT))

import miltext
import miltext.coreml
import miltext.testing
from miltext.containers.opening import _KINDS
from miltext.diagnostics import home
from website import api, fences, links, lists, markdown
from website.lexers import ReportLexer

ELSEWHERE = "https://git.invalid/models/tool"
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in [*links.OUTSIDE, "README.md"])]


@pytest.mark.parametrize(
    ("source", "page", "link", "there"),
    [
        ("docs/diff.md", "diff.md", "language.md#drafts", "language.md#drafts"),
        ("docs/how-to/set-labels.md", "how-to/set-labels.md", "../description.md", "../description.md"),
        ("docs/tutorial.md", "tutorial.md", "../README.md#review", "index.md#review"),
        ("docs/language.md", "language.md", "../grammar/mil.lark", "grammar.md"),
        ("docs/lark.md", "lark.md", "../grammar/mil_fast.lark", "grammar.md"),
        ("docs/tutorial.md", "tutorial.md", "operations.md#conv", "operations/convolution.md#conv"),
        ("docs/how-to/README.md", "how-to/README.md", "../operations.md", "../operations/index.md"),
        ("editors/README.md", "editors.md", "../docs/images/vscode.png", "images/vscode.png"),
        ("docs/limits.md", "limits.md", "../website/pages/playground.md", "playground.md"),
        ("docs/diff.md", "diff.md", "../nowhere.md", "../nowhere.md"),
        ("docs/diff.md", "diff.md", "../../etc/passwd", "../../etc/passwd"),
        ("docs/diff.md", "diff.md", "https://pre-commit.com", "https://pre-commit.com"),
        ("docs/diff.md", "diff.md", "#here", "#here"),
    ],
)
def test_a_link_leads_to_the_page_of_its_file(source: str, page: str, link: str, there: str) -> None:
    assert links.for_site(f"[x]({link})", source, page) == f"[x]({there})"


@pytest.mark.parametrize(
    ("source", "page", "link", "there"),
    [
        ("CONTRIBUTING.md", "project/contributing.md", "LICENSE", "blob/main/LICENSE"),
        ("docs/tutorial.md", "tutorial.md", "../examples/tutorial", "tree/main/examples/tutorial"),
        ("docs/tutorial.md", "tutorial.md", "../grammar/__init__.py", None),
    ],
)
def test_a_link_to_a_file_outside_the_site_leads_home(
    source: str, page: str, link: str, there: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a home it is plain words, and one that leads nowhere stays, of which MkDocs warns."""
    for where in ("", ELSEWHERE):
        monkeypatch.setattr(home, "HOME", where)
        made = f"[`x` y]({link})" if there is None else f"[`x` y]({where}/{there})" if where else "`x` y"
        assert links.for_site(f"See [`x` y]({link}).", source, page) == f"See {made}."


def anchors(page: Path) -> set[str]:
    """The anchors of a page as GitHub makes them: of its headings, and those that it writes itself."""
    text = links._FENCE.sub("", page.read_text(encoding="utf-8"))
    heads = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head) for head in re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE)]
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads} | {
        *re.findall(r'<a (?:id|name)="([^"]+)"', text)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_each_link_between_pages_leads_to_file_and_heading_there(page: Path) -> None:
    found: list[str] = []

    def noted(piece: str) -> str:
        found.extend(links._LINK.findall(piece))
        return piece

    markdown.outside_spans(links._FENCE.sub("", page.read_text(encoding="utf-8")), noted)
    lost = []
    for link in found:
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z][a-z+.-]*:|/", link):
            continue
        file = page.parent / path if path else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            lost.append(link)
    assert lost == []


def test_links_in_code_stay() -> None:
    text = "```md\n[x](../README.md)\n```\n`[x](../README.md)` [`x`](../README.md)\n"
    made = "```md\n[x](../README.md)\n```\n`[x](../README.md)` [`x`](index.md)\n"
    assert links.for_site(text, "docs/a.md", "a.md") == made


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("- a\n  b\n\n  c\n", "- a\n    b\n\n    c\n"),
        ("- a\n  - b\n    - c\n- d\n", "- a\n    - b\n        - c\n- d\n"),
        ("1. a\n\n   ```sh\n   x\n     y\n   ```\n", "1. a\n\n    ```sh\n    x\n      y\n    ```\n"),
        ("- a\n\n  | x |\n  |---|\n\nb\n", "- a\n\n    | x |\n    |---|\n\nb\n"),
        ("- a\n\n    code\n", "- a\n\n      code\n"),
        ("- a\n\n  b\n- c\n- d\n", "- a\n\n    b\n\n- c\n- d\n"),
        ("- a\n  b\n- c\n\nd\n", "- a\n    b\n- c\n\nd\n"),
        ("```text\n- a\n  b\n```\n", "```text\n- a\n  b\n```\n"),
        ("a\n\n    - code\n", "a\n\n    - code\n"),
        ("", ""),
    ],
)
def test_contents_of_an_item_are_indented_for_mkdocs(written: str, read: str) -> None:
    assert lists.for_site(written) == read


@pytest.mark.parametrize(
    ("block", "first"),
    [
        ("```draft\ny = relu(x);\n```", "```mil"),
        ("```mil mlp.mil\nprogram(1.3)\n```", '```mil title="mlp.mil"'),
        ("```mil program\nprogram(1.3)\n```", "```mil"),
        ("```text\ntensor<fp16, [2]> y = relu(x = x);\n```", "```mil"),
        ("```text\na.mil:1:1: error[MIL001]: the text is empty\n```", "```mil-report"),
        ("```text\nfunc main\n    + b\n```", "```mil-report"),
        ("```\nplain\n```", "```text"),
        ("```sh coremltools\nls\n```", "```sh"),
    ],
)
def test_a_fence_names_a_language_that_is_known(block: str, first: str) -> None:
    made = fences.for_site(f"{block}\n")
    assert made.splitlines()[0] == first
    assert made.splitlines()[1:] == block.splitlines()[1:]


def test_every_fence_of_every_page_names_its_language() -> None:
    assert len(PAGES) > 40
    ours = {"draft", "text"}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        opened = re.findall(r"^ *```(\S*).*\n(?:.*\n)*? *```$", text, re.MULTILINE)
        for name in {*opened} - ours:
            assert name, f"{page.name} has a fence without a language"
            get_lexer_by_name(name)  # or it raises an error


def test_reports_are_coloured_and_lose_nothing() -> None:
    text = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 80
    for block in blocks:
        tokens = list(ReportLexer(stripnl=False).get_tokens(block))
        assert "".join(word for _, word in tokens) == block
        if "error[MIL" in block:
            assert Generic.Error in {kind for kind, _ in tokens}
            assert Error not in {kind for kind, word in tokens if word == block}


def test_text_of_help_is_not_markdown() -> None:
    assert markdown.plain("all of *.mil in [tool] `a*b` <x>") == "all of \\*.mil in \\[tool\\] `a*b` \\<x>"
    assert markdown.plain("` ```mil ` *a* ``b`c*`` `*") == "` ```mil ` \\*a\\* ``b`c*`` `\\*"
    assert markdown.plain("with --no-loss, `a --b` x--y") == "with `--no-loss`, `a --b` x--y"
    assert markdown.cell("a | `b|c`\n d") == "a \\| `b|c` d"


def test_the_page_of_formats_has_every_kind() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\.?[\w.]+)` \|", page.partition("## Weights")[0], re.MULTILINE)
    kinds = {".mil", ".mlmodel", ".mlpackage", ".mlmodelc", ".pb", ".txtpb"}
    assert {*rows} == kinds >= {*_KINDS}


def test_all_that_is_linked_is_a_file_of_the_repository() -> None:
    for page in PAGES:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)", text):
            assert "://" in link or Path(page.parent, link).exists(), f"{page.relative_to(ROOT)} links {link}"


# ---- the page of public names

PYTHON = ROOT / "docs" / "python.md"
_ROW = re.compile(r"^\| `([\w.]+)` \|.*\|$", re.MULTILINE)


def test_the_python_page_lists_each_public_name(matches_golden: Check) -> None:
    """Each row has the first sentence of the name's docstring."""
    page = PYTHON.read_text(encoding="utf-8")
    testing = [f"testing.{name}" for name in miltext.testing.__all__]
    coreml = [f"coreml.{name}" for name in miltext.coreml.__all__]
    assert sorted(_ROW.findall(page)) == sorted([*miltext.__all__, *testing, *coreml])
    matches_golden(PYTHON, _ROW.sub(lambda row: f"| `{row[1]}` | {_purpose(row[1])} |", page))


def _purpose(name: str) -> str:
    scope, _, last = name.rpartition(".")
    return api.first_sentence(last, getattr(vars(miltext)[scope] if scope else miltext, last))
