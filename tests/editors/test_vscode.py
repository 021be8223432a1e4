"""The VS Code extension: what it declares is there, and what its snippets insert is MIL."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import pytest
from support.highlighters import EDITORS, absent

from miltext.parsing.parser import parse_tree
from miltext.schema.operations import all_names

FOLDER = EDITORS / "vscode"
STOP = re.compile(r"\$\{(\d+)(?::([^}]*)|\|([^}|]*)\|)?\}|\$(\d+)")


def read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


SNIPPETS = {**read("snippets/operations.json"), **read("snippets/program.json")}


def inserted(snippet: dict[str, Any]) -> str:
    """What a snippet inserts for one who only presses the tabulator: the first of the choices, no text at the end."""
    body = snippet["body"] if isinstance(snippet["body"], str) else "\n".join(snippet["body"])
    defaults: dict[str, str] = {"0": ""}
    for number, default, choices, _ in STOP.findall(body):
        if default or choices:
            defaults.setdefault(number, default or choices.split(",")[0])
    return STOP.sub(lambda match: defaults[match[1] or match[4]], body)


def in_program(text: str) -> str:
    if text.startswith("program"):
        return text
    return f"program(1.3) {{ {text if text.startswith('func') else f'func main<ios18>() {{ {text} }} -> ();'} }}"


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_inserts_a_text_that_parses(name: str) -> None:
    text = inserted(SNIPPETS[name])
    assert "$" not in text
    parse_tree(in_program(text))


def test_every_operation_has_a_snippet() -> None:
    assert {*all_names()} <= {*SNIPPETS}


def test_a_snippet_requests_the_required_parts() -> None:
    text = inserted(SNIPPETS["conv"])
    assert re.fullmatch(r'tensor<fp16, \[1\]> y = conv\(.*weight = weight, x = x\)\[name = string\("y"\)\];', text)
    assert "bias" not in text  # it may be left out
    assert inserted(SNIPPETS["write_state"]).startswith("write_state(data = data, input = input)")
    assert inserted(SNIPPETS["lstm"]).count("tensor<") == 3


def declared() -> list[str]:
    package = read("package.json")
    contributed = package["contributes"]
    paths = [entry["path"] for kind in ("grammars", "snippets") for entry in contributed[kind]]
    return [package["main"], *paths, *(language["configuration"] for language in contributed["languages"])]


@pytest.mark.parametrize("path", declared())
def test_declared_files_of_the_extension_exist(path: str) -> None:
    assert (FOLDER / path).is_file()


@pytest.mark.skipif(absent("node") is not None, reason="node is not installed")
def test_the_client_is_a_module_that_node_reads() -> None:
    subprocess.run(["node", "--check", str(FOLDER / "extension.js")], check=True)


def test_no_host_is_named_where_packages_come_from() -> None:
    assert "resolved" not in (FOLDER / "package-lock.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line", ["func main<ios18>(", "            x = relu(x = y)[", "    (tensor<bool, [1]> j) {", "{"]
)
def test_a_line_that_opens_a_bracket_indents_the_next(line: str) -> None:
    rules = read("language-configuration.json")["indentationRules"]
    assert re.match(rules["increaseIndentPattern"], line)
    assert not re.match(rules["increaseIndentPattern"], '            x = relu(x = y)[name = string("x")];')
    assert re.match(rules["decreaseIndentPattern"], "        } -> (y);")


def test_a_word_is_selected_whole() -> None:
    pattern = re.compile(read("language-configuration.json")["wordPattern"])
    assert pattern.findall("$block x_1@2 = -0x1.8p conv") == ["$block", "x_1@2", "-0x1.8p", "conv"]


ENTER = [
    ("    func main<ios18>(int32 x) {", "", {"indent": "indent", "appendText": "\t"}),
    ("    func main<ios18>(int32 x) {", "}", {"indent": "indentOutdent", "appendText": "\t\t"}),
    ("        } -> (y);", "", {"indent": "outdent"}),
    ('            int32 n = while_loop(loop_vars = (i))[name = string("n")]', "", {"indent": "indent"}),
    ("                } -> (less)", "", None),
    ("            int32 y = relu(x = x);", "", None),
    ("program(1.3)", "", None),
]


@pytest.mark.parametrize(("before", "after", "action"), ENTER)
def test_a_new_line_is_indented_as_in_the_layout(before: str, after: str, action: dict[str, str] | None) -> None:
    rules = read("language-configuration.json")["onEnterRules"]
    fitting = [
        rule["action"]
        for rule in rules
        if re.search(rule["beforeText"], before) and re.search(rule.get("afterText", ""), after)
    ]
    assert (fitting[0] if fitting else None) == action


def test_an_arrow_is_not_a_bracket() -> None:
    assert not [pair for pair in read("language-configuration.json")["brackets"] if ">" in pair]
