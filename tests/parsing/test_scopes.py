"""One meaning of names: the scopes of a text, and the graph of its Program, refer each use to the same definition."""

from __future__ import annotations

from pathlib import Path as FilePath
from random import Random

import pytest
from conftest import GOLDEN, corpus_files
from support.short_drafts import DRAFTS

import miltext
from miltext.diagnostics import Span
from miltext.generation.programs import generate
from miltext.ir.functions import Block
from miltext.ir.graph import Graph
from miltext.ir.parts import Value
from miltext.parsing.elaboration import elaborate
from miltext.parsing.lowering.left_out import LeavingOut
from miltext.parsing.parser import attempt
from miltext.parsing.recovery import tree_past
from miltext.parsing.scopes import Scopes
from miltext.parsing.spans import phrases_by_path, words
from miltext.schema.paths import Key, Path, block_path
from miltext.schema.proto import Program
from miltext.syntax.editing import edited
from miltext.syntax.lexer import STATEMENTS
from miltext.syntax.names import name_text
from miltext.syntax.tree import tree_of

Meanings = dict[Path, Path | None]
"""The definition that the name at a path means, None for an undefined name; a definition means itself."""

HIDDEN = """\
program(1.3)
{
    func main<ios18>(fp16 x, state<tensor<fp16, [2]>> s) {
            fp16 y = relu(x = x);
            fp16 y = relu(x = y);
            fp16 x = cond(pred = p, x = later)
                () { fp16 y = relu(x = x); } -> (y)
                (fp16 y, fp16 s) { fp16 z = relu(x = y, y = s); fp16 x = relu(x = z); } -> (x, y);
            fp16 a, fp16 later = split(x = (x, y, a), y = z);
        } -> (x, later, nowhere, s)
    $block<ios17>(fp16 x) { fp16 s = read_state(input = s); } -> (x, s, y);
    func other<ios18>(fp16 y) { fp16 main = relu(x = y); } -> (main, x);
}
"""


def of_text(text: str) -> Meanings:
    """The meanings by the scopes of a text."""
    root = tree_of(text, STATEMENTS)
    paths = {
        token.start: path[:-1] if path[-1] == "name" else path
        for place, phrase in phrases_by_path(root)
        for path, token in words(phrase, place)
        if path[-1] == "name" or path[-2] == "outputs"
    }
    known = {name.start: value.name.start for name, value in Scopes(root).in_sight()}
    return {path: paths[known[start]] if start in known else None for start, path in paths.items()}


def of_program(program: Program) -> Meanings:
    """The meanings by the graph of a Program."""
    made: dict[Value, Path] = {}
    uses: list[tuple[Path, object]] = []

    def define(path: Path, values: list[Value]) -> None:
        made.update({value: (*path, index) for index, value in enumerate(values)})

    def block(path: Path, found: Block) -> None:
        define((*path, "inputs"), found.inputs)
        for index, op in enumerate(found):
            place = (*path, "operations", index)
            define((*place, "outputs"), op.outputs)
            for parameter, given in op.inputs.items():
                at = (*place, "inputs", Key(parameter), "arguments")
                uses.extend(((*at, number), value) for number, value in enumerate(given))
            for number, inner in enumerate(op.blocks):
                block((*place, "blocks", number), inner)
        uses.extend(((*path, "outputs", index), value) for index, value in enumerate(found.outputs))

    for name, function in Graph(program).functions.items():
        define(("functions", Key(name), "inputs"), function.inputs)
        for opset, found in function.blocks.items():
            block(block_path(name, opset), found)
    named = {path: made.get(value) for path, value in uses if isinstance(value, Value)}
    return {**named, **{path: path for path in made.values()}}


def colliding(text: str, random: Random) -> str:
    """A text in which some names of values are those of others: hidden, defined twice, undefined, used too early."""
    found = [name for name, value in Scopes(tree_of(text, STATEMENTS)).found if not (value and value.is_function)]
    names = [*dict.fromkeys(name.text for name in found), "nowhere"]
    chosen = random.sample(found, min(len(found), random.randint(1, 12)))
    return edited(text, [(each.start, each.end, name_text(random.choice(names))) for each in chosen]).text


GOLDENS = [pytest.param(path, id=path.relative_to(GOLDEN).as_posix()) for path in sorted(GOLDEN.rglob("*.mil"))]


@pytest.mark.parametrize("path", [*GOLDENS, *corpus_files("**/*.mil")])
def test_scopes_of_a_text_match_the_graph(path: FilePath) -> None:
    text = path.read_bytes().decode(errors="replace")
    program = attempt(text, LeavingOut())
    if program is not None:  # neither broken nor a draft
        assert of_text(text) == of_program(program)


@pytest.mark.parametrize("seed", range(30))
def test_scopes_of_generated_programs_are_the_graphs(seed: int) -> None:
    program = generate(seed)
    text, random = miltext.to_text(program), Random(seed)
    assert of_text(text) == of_program(program)
    for _ in range(10):
        text = colliding(text, random)
        assert of_text(text) == of_program(miltext.parse(text))


DRAFTED = [pytest.param(text, id=name) for name, text in DRAFTS.items()]


@pytest.mark.parametrize("text", DRAFTED)
def test_names_of_a_draft_mean_the_same_in_its_long_form(text: str) -> None:
    root = tree_past(text)
    assert root is not None
    long = elaborate(text, root)
    assert long is not None
    after = tree_past(long.text)
    assert after is not None
    place = {name.start: long.place_of(Span(name.start, name.end)) for name, _ in Scopes(root).in_sight()}
    made = {name.start: value.name.start for name, value in Scopes(after).in_sight()}
    for name, value in Scopes(root).in_sight():
        here, there = place[name.start], place[value.name.start]
        assert here is not None
        assert there is not None
        assert made[here.start] == there.start


def test_hidden_names_of_states_and_blocks_are_distinguished() -> None:
    found, main = of_text(HIDDEN), block_path("main", "CoreML8")
    assert found == of_program(miltext.parse(HIDDEN))
    inner = (*main, "operations", 2, "blocks", 1)
    hidden, too_early = (
        (*block, "operations", index, "inputs", Key(key), "arguments", 0)
        for block, index, key in ((inner, 0, "y"), (main, 2, "x"))
    )
    state = (*main, "outputs", 3)
    assert found[hidden] == (*inner, "inputs", 1)
    assert found[too_early] is None
    assert found[state] == ("functions", Key("main"), "inputs", 1)
