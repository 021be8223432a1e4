"""The HTML page: it says the text and nothing else, links each name to the value it means, and works in a browser."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import GOLDEN, ROOT, corpus_files
from support.short_drafts import DRAFTS, WITH_BLOCKS

import miltext
from miltext.printing.html_page import page
from miltext.printing.reading import Reader

TEXT = """\
program(1.3)
[buildInfo = dict<string, string>({{"x", "<script>"}})]
{
    func main<ios18>(tensor<fp16, [1, ?]> x, state<tensor<fp16, [2]>> s) {
            list<tensor<fp16, [1]>, 2> a, tensor<fp16, [2]> b = two(x = x, y = (x, s), z = tensor<int32, [2]>([1, 2]));
            tensor<fp16, [2]> n = while_loop(loop_vars = b)[name = string("n")]
                (tensor<fp16, [2]> b) {
                    bool go = less(x = b, y = x)[name = string("go")];
                } -> (go)
                (tensor<fp16, [2]> i) {
                    tensor<fp16, [2]> a = relu(x = i)[name = string("next")];
                } -> (a);
            write(x = missing);
        } -> (n, a, b);
    func other<ios18>(tensor<fp16, [1]> x) {
        } -> (x);
}
"""

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Shown(HTMLParser):
    """What a page shows as its text, and the elements that are open at its end."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "main" in self.open:
            self.text += data if "div" in self.open else ""
            self.text += "\n" if "div" not in self.open and data == "\n" else ""


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


@pytest.mark.parametrize(
    "path", [*sorted(GOLDEN.glob("print/*.mil")), *corpus_files("apple/ane*.mil", "apple/*Argmax*.mil")], ids=str
)
def test_a_page_shows_the_text_whole(path: Path) -> None:
    text = miltext.format_text(path.read_bytes().decode())
    shown = Shown(page(text, path.name))
    assert lines(shown.text) == lines(text)
    assert shown.open == []


def test_a_name_is_the_value_it_means() -> None:
    reader = Reader(TEXT)
    assert len(list(reader.lines())) == TEXT.count("\n")
    assert [(each.name, each.type, each.maker, each.line, each.uses) for each in reader.definitions] == [
        ("x", "tensor<fp16, [1, ?]>", "input", 4, [5, 5, 8]),
        ("s", "state<tensor<fp16, [2]>>", "input", 4, [5]),
        ("a", "list<tensor<fp16, [1]>, 2>", "two", 5, [14]),
        ("b", "tensor<fp16, [2]>", "two", 5, [6, 14]),
        ("n", "tensor<fp16, [2]>", "while_loop", 6, [14]),
        ("b", "tensor<fp16, [2]>", "input", 7, [8]),
        ("go", "bool", "less", 8, [9]),
        ("i", "tensor<fp16, [2]>", "input", 10, [11]),
        ("a", "tensor<fp16, [2]>", "relu", 11, [12]),
        ("x", "tensor<fp16, [1]>", "input", 15, [16]),
    ]


def test_a_name_in_a_nested_operation_is_the_value_it_means() -> None:
    reader = Reader(WITH_BLOCKS)
    assert len(list(reader.lines())) == WITH_BLOCKS.count("\n")
    assert [(each.name, each.type, each.maker, each.line, each.uses) for each in reader.definitions] == [
        ("p", "bool", "input", 3, [4]),
        ("x", "tensor<fp16, [2]>", "input", 3, [6, 6, 9]),
        ("y", "tensor<fp16, [2]>", "input", 3, [6, 9]),
        ("z", "_", "cond", 4, [11, 11]),
        ("a", "_", "add", 6, [7]),
        ("a", "_", "sub", 9, [10]),
        ("last", "_", "mul", 11, [12]),
        ("x", "tensor<fp16, [2]>", "input", 13, [14]),
        ("y", "_", "relu", 14, [15]),
    ]


@pytest.mark.parametrize("text", DRAFTS.values(), ids=list(DRAFTS))
def test_a_page_shows_a_draft_whole(text: str) -> None:
    shown = Shown(page(text, "draft"))
    assert lines(shown.text) == lines(text)
    assert shown.open == []


def test_nothing_in_a_text_is_markup() -> None:
    html = page(TEXT, "<b>&")
    assert html.count("<script>") == 1
    assert "<title>&lt;b&gt;&amp;</title>" in html
    assert not re.search(r"(src|href)=\"(?!#)", html)
    assert "://" not in html


def test_every_definition_of_a_real_program_has_its_uses() -> None:
    model = miltext.load(ROOT / "examples" / "Classifier.mlpackage")
    reader = Reader(miltext.to_text(model.program))
    assert all(each.uses and each.type and each.maker for each in reader.definitions)


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    out = tmp_path / "m.html"
    command = [sys.executable, "-m", "miltext", "print", str(ROOT / "examples" / "Classifier.mlpackage"), "--html"]
    subprocess.run([*command, "--compact", "-o", str(out)], check=True)
    html = out.read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert "$elided" in Shown(html).text


SCRIPT = """
<script>
const report = [];
const definition = [...document.querySelectorAll(".v")].find((each) => each.textContent === "n");
const use = document.querySelector("a[href='#" + definition.id + "']");
use.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
report.push(hint.hidden, hint.textContent);
use.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
report.push(document.querySelectorAll(".same").length);
fold.click();
report.push(main.querySelectorAll("details[open]").length, fold.textContent);
find.value = "RELU";
find.dispatchEvent(new Event("input"));
report.push(found.textContent, document.querySelectorAll(".hit").length, document.querySelector(".now").id);
report.push(main.querySelectorAll("details[open]").length, document.querySelector(".now").offsetHeight > 0);
document.title = JSON.stringify(report);
</script>
</body>"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_in_a_browser_values_are_told_of_blocks_fold_and_lines_are_found(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(TEXT, "m").replace("</body>", SCRIPT), encoding="utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri()]
    done = subprocess.run(
        command, capture_output=True, timeout=120, check=False, env={**os.environ, "HOME": str(tmp_path)}
    )
    title = re.search(r"<title>(.*?)</title>", done.stdout.decode())
    assert title is not None, done.stderr.decode()
    assert title[1] == (
        r'[false,"n: tensor&lt;fp16, [2]&gt;\nwhile_loop, line 6\n1 use: line 14",'
        '2,1,"Unfold all","1 of 1",1,"L11",3,true]'
    )
