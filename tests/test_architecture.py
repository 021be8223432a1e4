"""The layout of the package: ARCHITECTURE.md says which rooms there are, and the imports go one way between them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import ROOT
from support.calls import Calls, Place

pytestmark = pytest.mark.any_version

PACKAGE = ROOT / "src" / "miltext"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| `(\w+)(?:/|\.py)` \| (.*) \|$", PAGE, re.MULTILINE)
LAYERS = {room: int(layer) for layer, room, _ in ROWS} | {"__init__": 99, "__main__": 99}


WALKERS = ("schema", "ir", "parsing", "printing")
"""The rooms that look into the functions, blocks and operations of messages; all others read `ir` and `schema/walk`."""

CALLS = ("enumerate", "reversed", "len", "zip", "list", "tuple", "sorted", "map", "iter", "add", "append", "extend")
"""The calls by which a repeated field is walked over or written."""

LEFT = {
    "generation.programs": 1,  # they make messages
    "generation.growing": 4,
    "diffing.structure": 4,  # the operations of a block's difference
    "diffing.report": 1,
    "pymil.fingerprints": 1,  # the operations of coremltools' own blocks
}
"""The proto boundary of ARCHITECTURE, and fields of other classes that are called like the message's."""


class Import(NamedTuple):
    """A module below `miltext` imports another, now, `lazily` in a function, or for `types` only."""

    importer: str
    imported: str
    kind: str


@cache
def modules() -> dict[str, Path]:
    """Every module by its name below `miltext`; a package by its own."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


@cache
def imports() -> list[Import]:
    return [found for name, path in modules().items() for found in imports_of(name, ast.parse(path.read_bytes()))]


def imports_of(importer: str, node: ast.AST, kind: str = "now") -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        inner = kind
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and kind == "now":
            inner = "lazily"
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            inner = "types"
        for name in imported_names(child):
            yield Import(importer, module_of(name), inner)
        yield from imports_of(importer, child, inner)


def imported_names(node: ast.AST) -> list[str]:
    """The dotted names of ours that a statement imports."""
    names: list[str] = []
    if isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    return [name for name in names if name.split(".")[0] == "miltext"]


def module_of(name: str) -> str:
    """The module that a name is, or is in."""
    while name != "miltext":
        below = name.removeprefix("miltext.")
        if below in modules():
            return below
        name = name.rpartition(".")[0]
    return "__init__"


def room_of(module: str) -> str:
    return module.partition(".")[0]


def arrows(*kinds: str) -> set[tuple[str, str]]:
    """Who imports whom, apart from itself."""
    found = {(each.importer, each.imported) for each in imports() if each.kind in kinds}
    return {(importer, imported) for importer, imported in found if importer != imported}


def test_every_room_has_a_row_and_every_row_a_room() -> None:
    there = {room_of(name) for name in modules()}
    assert there == set(LAYERS)
    assert len(ROWS) == len({room for _, room, _ in ROWS})


def test_the_top_level_has_only_modules_that_users_import() -> None:
    files = {path.stem for path in PACKAGE.glob("*.py")}
    assert files == {"__init__", "__main__", "coreml", "highlight", "pytest_plugin"}


@pytest.mark.parametrize("kinds", [("now", "lazily"), ("types",)], ids=["imports", "types"])
def test_rooms_import_rooms_of_smaller_layers_only(kinds: tuple[str, ...]) -> None:
    between = [(a, b) for a, b in sorted(arrows(*kinds)) if room_of(a) != room_of(b)]
    assert between
    assert [(a, b) for a, b in between if LAYERS[room_of(b)] >= LAYERS[room_of(a)]] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    left, before = arrows("now", "lazily"), set[tuple[str, str]]()
    while left != before:  # what imports nothing that is left, or is imported by nothing, is in no circle
        importers, imported = {a for a, _ in left}, {b for _, b in left}
        left, before = {(a, b) for a, b in left if a in imported and b in importers}, left
    assert sorted(left) == []


IN_CIRCLES = {"ir": 2, "diffing": 12, "conversion": 5, "evaluation": 2}
"""How many modules of these rooms are in circles of imports, if those for types count. No other room has such a one."""


def test_imports_for_types_make_circles_in_few_rooms_only() -> None:
    between = arrows("now", "lazily", "types")
    onward = {module: {b for a, b in between if a == module} for module, _ in between}
    circling = [module for module in onward if module in reach(onward, onward[module])]
    found = Counter(map(room_of, circling))
    assert {room: count for room, count in found.items() if count > IN_CIRCLES.get(room, 0)} == {}


def reach(onward: dict[str, set[str]], first: set[str]) -> set[str]:
    """All modules that are imported from the first ones on."""
    found, todo = set(first), [*first]
    while todo:
        new = onward.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def test_a_room_is_cheap_to_enter() -> None:
    entered = {a for a, b in arrows("now") if a == room_of(b) and modules()[a].name == "__init__.py"}
    assert entered == {"diffing", "testing"}


def test_each_module_that_a_row_names_is_in_its_room() -> None:
    named = [(room, name) for _, room, text in ROWS for name in re.findall(r"`(\w+)`", text) if name != "mil_golden"]
    assert len(named) > 60
    assert [f"{room}/{name}" for room, name in named if f"{room}.{name}" not in modules()] == []


# ---- the walks


@cache
def calls() -> Calls:
    return Calls(modules(), arrows("now", "lazily"))


def walk_of(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def places_of(title: str) -> set[str]:
    """The modules that a walk names, those too that it names without their room: that of the module before them."""
    found, room = set[str](), ""
    for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*)`", walk_of(title)):
        place = name.replace("/", ".")
        if place in modules():
            room = room_of(place)
        elif f"{room}.{place}" in modules():
            place = f"{room}.{place}"
        elif "/" not in name:
            continue  # a name that a module defines
        found.add(place)
    return found


@pytest.mark.parametrize("title", ["Where a text becomes a Program", "Where an error comes from"])
def test_the_walks_lead_through_modules_that_are_there(title: str) -> None:
    places = places_of(title)
    assert len(places) > 6
    assert places - modules().keys() == set()
    assert len(re.findall(r"^\d\. ", walk_of(title), re.MULTILINE)) <= 8


ORIGINS = {
    Place("parsing.parser", "parse"): {"diagnostics", "parsing", "schema", "syntax"},
    Place("parsing.recovery", "recover"): {"diagnostics", "parsing", "schema", "syntax"},
    Place("checking.programs", "findings_in"): {"checking", "diagnostics", "ir", "parsing", "schema", "syntax"},
    Place("parsing.spans", "find"): {"parsing", "syntax"},
    Place("diagnostics", "render"): {"diagnostics"},
}
"""Where the errors of a text come from, and the rooms that calls of these functions enter."""


@pytest.mark.parametrize("start", ORIGINS, ids=".".join)
def test_an_error_comes_from_few_rooms(start: Place) -> None:
    assert {room_of(place.module) for place in calls().reached(start)} == ORIGINS[start]


def test_the_walk_to_an_error_matches_the_code() -> None:
    """Each module that it names is entered by the calls, or is a table that an entered module imports."""
    entered = {place.module for start in ORIGINS for place in calls().reached(start)}
    assert len({room_of(module) for module in entered}) <= 8
    tables = {imported for importer, imported in arrows("now", "lazily") if importer in entered}
    assert places_of("Where an error comes from") - entered - tables == set()


# ---- tests


def walks(tree: ast.AST) -> int:
    """How often a module names the map of blocks, or walks over the operations of a block or the arguments of a use."""
    walked: set[ast.expr] = set()
    found = 0
    for node in ast.walk(tree):
        found += "block_specializations" in (getattr(node, "attr", ""), getattr(node, "value", ""))
        if isinstance(node, (ast.For, ast.comprehension)):
            walked.add(node.iter.body if isinstance(node.iter, ast.IfExp) else node.iter)
        elif isinstance(node, (ast.Subscript, ast.Starred)):
            walked.add(node.value)
        elif isinstance(node, ast.Call):
            method = node.func if isinstance(node.func, ast.Attribute) else None
            if (method.attr if method else ast.unparse(node.func)) in CALLS:
                walked.update([method.value] if method else node.args)
    return found + sum(isinstance(each, ast.Attribute) and each.attr in ("operations", "arguments") for each in walked)


def test_messages_are_walked_over_in_few_places() -> None:
    counts = {name: walks(ast.parse(path.read_bytes())) for name, path in modules().items()}
    found = {name: count for name, count in counts.items() if count and room_of(name) not in WALKERS}
    assert {name: count for name, count in found.items() if count > LEFT.get(name, 0)} == {}, "read the graph instead"
    assert {name: found.get(name, 0) for name in LEFT} == LEFT, "write the smaller numbers into the list"


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("for each in block.operations: pass", 1),
        ("found = [each for each in block.operations if each]", 1),
        ("found = [each for each in (block.operations if block else ())]", 1),
        ("for place, each in enumerate(block.operations): pass", 1),
        ("first = block.operations[0]", 1),
        ("block.operations.extend([each])", 1),
        ("made.inputs['x'].arguments.add().name = 'x'", 1),
        ("path = 'functions', name, 'block_specializations'", 1),
        ("blocks = function.block_specializations", 1),
        ("given = inference.arguments.operands", 0),
        ("count = self.operations", 0),
    ],
)
def test_the_walks_that_are_found(line: str, count: int) -> None:
    assert walks(ast.parse(line)) == count


def test_each_file_of_tests_has_a_name_of_its_own() -> None:
    """pytest imports them by their names alone, and collects none of several that are called alike."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
