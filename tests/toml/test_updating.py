"""A text in TOML updated in place: what changes is replaced, and the rest of the text stays."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from difflib import ndiff
from typing import Any

import pytest

from miltext.toml.reading import NotToml, read_toml
from miltext.toml.updating import updated
from miltext.toml.writing import write_toml

TEXT = """\
# what this is

version = 9 # the version
labels = ["a", # first
  "b"]

# of it all
[metadata]
author = "me" # who

[metadata.more]
"a.b" = "1"

# the first
[[input]] # here
name = "x" # its name
shape = [ 1,2 ] # odd layout

# the second
[[input]]
name = "y"
[[input.part]]
name = "p"

# loose

# what comes out
[[output]]
name = "z\"""".replace('z"', 'z" # last')
TABLE: dict[str, Any] = read_toml(TEXT)

Change = Callable[[dict[str, Any]], object]
CHANGES: dict[str, tuple[Change, list[str]]] = {
    "nothing": (lambda table: None, []),
    "a value": (
        lambda table: table.update(version=8),
        ["- version = 9 # the version", "+ version = 8 # the version"],
    ),
    "a list": (
        lambda table: table.update(labels=["b"]),
        ['- labels = ["a", # first', '-   "b"]', '+ labels = ["b"]'],
    ),
    "a new value": (lambda table: table.update(ready=True), ["+ ready = true"]),
    "a value that is gone": (lambda table: table.pop("version"), ["- version = 9 # the version"]),
    "an odd value": (
        lambda table: table["metadata"].update(author='"\n\0'),
        ['- author = "me" # who', '+ author = "\\"\\n\\u0000" # who'],
    ),
    "an odd key": (lambda table: table["metadata"]["more"].update({"": "2"}), ['+ "" = "2"']),
    "another number of the same": (
        lambda table: table["input"][0].update(shape=[1.0, 2]),
        ["- shape = [ 1,2 ] # odd layout", "+ shape = [1.0, 2] # odd layout"],
    ),
    "a table that is gone": (
        lambda table: table["metadata"].pop("more"),
        ["- [metadata.more]", '- "a.b" = "1"', "- "],
    ),
    "the first of an array is gone": (
        lambda table: table["input"].pop(0),
        ["- # the first", "- [[input]] # here", '- name = "x" # its name', "- shape = [ 1,2 ] # odd layout", "- "],
    ),
    "a new one in an array": (
        lambda table: table["input"].append({"name": "w", "part": [{"name": "q"}]}),
        ["+ [[input]]", '+ name = "w"', "+ ", "+ [[input.part]]", '+ name = "q"', "+ "],
    ),
    "another name": (
        lambda table: table["input"][0].update(name="xx"),
        ['- name = "x" # its name', '+ name = "xx" # its name'],
    ),
    "an array in a table": (
        lambda table: table["input"][0].update(part=[{"name": "r"}]),
        ["+ [[input.part]]", '+ name = "r"', "+ "],
    ),
    "a new array": (lambda table: table.update(state=[{"name": "s"}]), ["+ ", "+ [[state]]", '+ name = "s"']),
}


@pytest.mark.parametrize("case", CHANGES)
def test_only_changed_text_differs(case: str) -> None:
    change, wanted = CHANGES[case]
    table = deepcopy(TABLE)
    change(table)
    made = updated(TEXT, table)
    assert made is not None
    assert read_toml(made) == table
    lines = [line for line in ndiff(TEXT.splitlines(), made.splitlines()) if line[0] in "+-"]
    assert sorted(lines) == sorted(wanted)
    windows = updated(TEXT.replace("\n", "\r\n"), table)
    assert windows == made.replace("\n", "\r\n")


def test_reordered_tables_take_their_comments_along() -> None:
    table = deepcopy(TABLE)
    table["input"].reverse()
    made = updated(TEXT, table)
    assert made is not None
    assert made.index("# the second\n[[input]]") < made.index("# the first\n[[input]] # here")
    assert read_toml(made) == table


def test_tables_of_one_name_belong_together_in_order() -> None:
    text = '# 1\n[[a]]\nname = "x"\n# 2\n[[a]]\nname = "x"\n# 3\n[[a]]\nname = "y"\n'
    table = {"a": [{"name": "x"}, {"name": "y"}, {"name": "x"}]}
    assert updated(text, table) == '# 1\n[[a]]\nname = "x"\n# 3\n[[a]]\nname = "y"\n# 2\n[[a]]\nname = "x"\n'


OTHERWISE = {
    "inline tables": 'input = [{ name = "x" }, { name = "y" }]\nmetadata = { author = "me" }\n',
    "dotted keys": 'metadata.author = "me"\n[[input]]\nname = "x"\n[[input]]\nname = "y"\n',
    "no header of its own": '[metadata.more]\n[[input]]\nname = "x"\n[[input]]\nname = "y"\n',
    "spaces": '  [[ input ]]\n  name = "x"\n\t[[input]]\nname = "y"\n[ "metadata" ]\n  author="me"\n',
    "brackets in strings": "a = '''\n[[input]]\n'''\nb = [\n[1],\n[2]\n]\n[[input]]\nname = 'x'\n# [x]\n",
    "several at once": "[[input]]\nname = 'x'\n[metadata]\n[[input]]\nname = 'y'\n[metadata.more]\n",
    "nothing": "",
    "only comments": "# only\n# comments\n",
}
WANTED = {
    "metadata": {"author": "you", "more": {"k": "v"}},
    "input": [{"name": "y", "shape": [1]}, {"name": "w"}],
}


@pytest.mark.parametrize("case", OTHERWISE)
def test_other_layouts_are_kept_or_rewritten(case: str) -> None:
    text = OTHERWISE[case]
    assert updated(text, read_toml(text)) == text
    made = updated(text, WANTED)
    assert made is not None
    assert read_toml(made) == WANTED
    assert updated(made, WANTED) == made
    assert updated(write_toml(WANTED), read_toml(text)) is not None


def test_numbers_are_distinguished() -> None:
    text = "a = 1\nb = 0.0\nc = nan\nd = true\n"
    made = updated(text, {"a": 1.0, "b": -0.0, "c": float("nan"), "d": 1})
    assert made == "a = 1.0\nb = -0.0\nc = nan\nd = 1\n"


def test_a_text_that_is_not_toml_is_not_updated() -> None:
    with pytest.raises(NotToml):
        updated("a = ", {})
