"""The HTML page: it says the text and nothing else, and links each name to the value it means."""

from __future__ import annotations

import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import GOLDEN, ROOT, corpus_files
from support.short_drafts import DRAFTS, WITH_BLOCKS

import miltext
from miltext.containers.opened import OpenedModel
from miltext.models.model import Stage
from miltext.printing.html_page import page
from miltext.printing.reading import TextReader

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
    reader = TextReader(TEXT)
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
    reader = TextReader(WITH_BLOCKS)
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


@pytest.mark.parametrize("operation", ["fp16 x = relu(x = x);", 'fp16 x = custom(x = (x))[name = string("x")];'])
def test_arguments_are_defined_before_their_operation(operation: str) -> None:
    reader = TextReader(f"program(1.3)\n{{\nfunc main<ios18>(fp16 x) {{\n{operation}\n}} -> (x);\n}}\n")
    assert [(each.line, each.uses) for each in reader.definitions] == [(3, [4]), (4, [5])]


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
    assert html.replace("http://www.w3.org/2000/svg", "").count("://") == 0  # the name of SVG, which is not fetched


@pytest.mark.parametrize("literal", ["[[1, 2], [3, 4]]", "[1,2]", "[]", "[-1]", "3"])
def test_only_numbers_have_the_colour_of_numbers(literal: str) -> None:
    text = TEXT.replace("([1, 2])", f"({literal})")
    spans = re.findall(r'<span class="m">(.*?)</span>', page(text, "m"))
    assert "1.3" in spans
    assert [span for span in spans if not re.fullmatch(r"[-\d.?]+(, ?[-\d.?]+)*", span)] == []
    assert Shown(page(text, "m")).text.strip() == text.strip()


def test_policy_allows_style_and_script_and_nothing_else() -> None:
    html = page(TEXT, "m")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', html)
    assert policy is not None
    for tag in ("style", "script"):
        (source,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert f"{tag}-src 'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'" in policy[1]
    assert policy[1].startswith("default-src 'none'; ")
    assert not re.search(r"<[^>]* (style|on\w+)=", html[: html.index("<script")])


@pytest.mark.parametrize(
    ("place", "title"),
    [
        ("Head.mlpackage", "Head.mlpackage"),
        ("Head.mlpackage/Data/com.apple.CoreML/model.mlmodel", "Head.mlpackage"),
        ("some/folder/Head.mil", "Head.mil"),
        ("some/head/model.mil", "head/model.mil"),
        ("Head.mlmodelc/model.mil", "Head.mlmodelc"),
        ("Pipeline.mlmodelc/model0/model.mil", "Pipeline.mlmodelc/model0"),
    ],
)
def test_the_title_is_the_name_of_the_model(place: str, title: str, tmp_path: Path) -> None:
    assert Stage("", OpenedModel("mil", place, tmp_path / place, None)).short_name == title
    assert (
        Stage("1/0", OpenedModel("mil", place, tmp_path / place, None, "tail")).short_name
        == f'{title}, model 1/0 "tail"'
    )
    assert Stage("", OpenedModel("mil", "<stdin>", None, None)).short_name == "<stdin>"


def test_every_definition_of_a_real_program_has_its_uses() -> None:
    model = miltext.load(ROOT / "examples" / "Classifier.mlpackage")
    reader = TextReader(miltext.to_text(model.program))
    assert all(each.uses and each.type and each.maker for each in reader.definitions)


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    out = tmp_path / "m.html"
    command = [sys.executable, "-m", "miltext", "print", str(ROOT / "examples" / "Classifier.mlpackage"), "--html"]
    subprocess.run([*command, "--compact", "-o", str(out)], check=True)
    html = out.read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert "$elided" in Shown(html).text


@pytest.mark.parametrize("options", [(), ("--elide", "4"), ("--compact",), ("--compact", "--elide", "2")], ids=str)
def test_the_page_has_the_text_of_the_same_options(options: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "miltext", "print", str(ROOT / "examples" / "Classifier.mlpackage"), *options]
    text, html = (
        subprocess.run([*command, *form], check=True, capture_output=True, encoding="utf-8").stdout
        for form in ((), ("--html",))
    )
    assert lines(Shown(html).text) == lines(text)
