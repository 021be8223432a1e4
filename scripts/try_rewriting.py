"""Rewrite programs with planted matches and near misses of each packaged rule: `python scripts/try_rewriting.py`.

A program is generated, and functions of the rule files are planted in it, at random values: examples, near misses, and
functions that differ from these in a number, a size, a data type or an output. Some matches are spoilt: an inner value
has another use, is an output or is captured by an inner block, or the last operation is in another block; others are
whole in an inner block, or between a state's read and write. All packaged rules rewrite the program. Each site is
proven by its declared exactness, and each whole function that only exact rules rewrote is equal bit for bit; `check`
finds no new error, and coremltools loads the result. Spoilt matches and near misses stay, and examples change. With
`--of`, the programs are those of another source of `tests/support/program_sources.py`. The script prints counts, and a
line for each fault, and exits with 1 if there is one.
"""

from __future__ import annotations

import logging
import math
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.program_sources import SOURCES, subjects

from miltext import Graph, MiltextError
from miltext.checking.programs import findings_in
from miltext.containers.opening import read
from miltext.coreml import to_pymil
from miltext.drafting.draft import Draft
from miltext.drafting.programs import program_of
from miltext.generation.options import Options
from miltext.generation.programs import generate
from miltext.ir.functions import Block
from miltext.ir.parts import Op, Value
from miltext.ir.planting import Planting
from miltext.rewriting.literals import literal_message
from miltext.rewriting.operands import ConstantContents
from miltext.rewriting.packaged import packaged, passes
from miltext.rewriting.planning import PlannedSite, Rewriter
from miltext.rewriting.rule_files import RewriteRule
from miltext.rewriting.sites import Finder, Site
from miltext.rewriting.trying import NUMBERS, variants
from miltext.rewriting.verifying import Verifying, new_errors
from miltext.rewriting.whole_proofs import WholeRewriting, prove_whole
from miltext.schema.proto import Block as BlockMessage
from miltext.schema.proto import Program
from miltext.schema.types import StateType, TensorType, is_whole
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.ir.parts import Operand
    from miltext.models.model import Model
    from miltext.rewriting.passes import AnyRule
    from miltext.rewriting.sites import AnySite

MORE_NUMBERS = (*NUMBERS, "3", "-0.0", "-2", "1e-7", "65504.0")
"""The numbers that replace a number of a planted function."""

SIZES = (1, 3, 5, None)
"""The sizes that replace a size in the inputs of a planted function; None is `?`."""

ODD = (float("nan"), float("inf"), float("-inf"), -0.0)
"""The numbers that replace an element of a constant of a planted function."""

SPOILS = ("another use", "output", "captured", "another block")
"""What keeps a match from being replaced."""

PLACES = ("inner block", "state")
"""Other places of a match, where it may be replaced."""

EXACT = [rule for rule in packaged() if rule.exactness.is_exact and rule.domain is None]

Faults = list[str]
"""The faults of a program, as lines."""


class Snippet(NamedTuple):
    """A function of a rule file as a Program, and whether its rule must change it, must keep it, or neither."""

    rule: RewriteRule
    name: str
    program: Program
    change: str
    kind: str


@dataclass
class Sums:
    """The counts of programs: replaced sites by rule, kept matches by the reason, and faults."""

    programs: int = 0
    sites: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    whole: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    faults: Faults = field(default_factory=list)

    def show(self) -> None:
        """Print the counts."""
        of_rules = Counter({name: count for name, count in self.sites.items() if name not in passes()})
        print(f"sites of passes: {self.sites - of_rules}")
        for title, counts in (("sites of rules", of_rules), ("kept", self.kept), ("whole", self.whole)):
            print(f"{title}: {counts.total()}: {', '.join(f'{key} {count}' for key, count in counts.most_common())}")
        if self.left_out:
            print(f"left out: {dict(self.left_out)}")
        print(f"{self.programs} programs, {self.sites.total()} sites, {len(self.faults)} faults", flush=True)


@click.command()
@click.option("--of", "source", type=click.Choice([*SOURCES]), default="generated", help="The programs.  [generated]")
@click.option("--programs", default=200, show_default=True, help="How many programs are generated.")
@click.option("--seed", default=0, show_default=True, help="The first seed.")
@click.option("--rule", "names", multiple=True, help="Plant only matches of this rule; may be repeated.")
@click.option("--largest", default=300_000, show_default=True, help="The most elements of what is computed.")
def main(source: str, programs: int, seed: int, names: tuple[str, ...], largest: int) -> None:
    """Print the counts and the faults; exit with 1 if there are any."""
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    sums = Sums()
    if source == "generated":
        rules = [rule for rule in packaged() if isinstance(rule, RewriteRule) and rule.examples]
        wanted = [rule for rule in rules if not names or rule.name in names]
        for each in range(seed, seed + programs):
            _report(sums, f"seed {each}", _generated(sums, each, wanted))
    else:
        for name, model, _ in subjects(source, 0):
            _report(sums, name, _of_model(sums, model, largest))
    sums.show()
    sys.exit(bool(sums.faults))


def _report(sums: Sums, name: str, faults: Faults) -> None:
    sums.programs += 1
    for fault in faults:
        sums.faults.append(f"{name}: {fault}")
        print(f"{name}: {fault}", flush=True)


# ---- programs


def _generated(sums: Sums, seed: int, rules: Sequence[RewriteRule]) -> Faults:
    """Generate a program, plant functions of rules, and rewrite it."""
    drawn = random.Random(seed)
    opset = drawn.choice(("ios17", "ios18"))
    options = Options(opsets=[opset], ops=(1, 12), flexible=seed % 4 == 0, states=opset == "ios18")
    try:
        graph = Graph(generate(seed, options))
    except MiltextError:
        sums.left_out["nothing was generated"] += 1
        return []
    planter = Planter(graph, drawn)
    for place in range(drawn.randint(1, 4)):
        snippet = _snippet(drawn, rules)
        if snippet is not None:
            planter.plant(snippet, f"planted{place}")
    program = graph.program()
    errors = [each.message for each in new_errors(graph.message, program)]
    if errors:
        sums.left_out["the planted program is wrong"] += 1
        return []
    faults = [fault for each in planter.planted for fault in _kept_or_changed(sums, program, each)]
    rewritten = EXACT if seed % 2 else packaged()
    return faults + _rewritten(sums, program, ConstantContents(None), rewritten, math.inf)


def _of_model(sums: Sums, model: Model, largest: int) -> Faults:
    """Rewrite the program of a model by all rules, and by the exact ones."""
    try:
        program = own_copy(program_of(model))
        Graph(program)
    except Exception as failure:  # noqa: BLE001  # whatever it is, it is no program
        sums.left_out[f"no program: {type(failure).__name__}"] += 1
        return []
    if any(each.severity == "error" for each in findings_in(program)):
        sums.left_out["errors of check"] += 1
        return []
    contents = ConstantContents(model.model_path)
    faults = _rewritten(sums, program, contents, packaged(), largest)
    again = Sums(whole=sums.whole)  # its sites are counted
    return faults + _rewritten(again, program, contents, EXACT, largest)


# ---- planted functions


@cache
def _texts(rule: RewriteRule) -> list[tuple[str, str, str, str]]:
    """Return functions of a rule's file as texts with name, change and kind: its own, and changed ones."""
    made = []
    for name in (*rule.examples, *rule.keeps):
        alone = rule.file.alone(name)
        kind = "example" if name in rule.examples else "near miss"
        made.append((alone, name, "", kind))
        made += [(each.text, name, each.change, "changed") for each in variants(rule, name, alone, MORE_NUMBERS)]
        made += [(text, name, change, "changed") for text, change in _resized(alone)]
    return made


def _resized(alone: str) -> Iterator[tuple[str, str]]:
    """Yield texts with another size in the inputs of a function, and the change in words."""
    start = alone.index("(", alone.index("func"))
    end = alone.index("{", start)
    head = alone[start:end]
    sizes = {word for shape in head.split("[")[1:] for word in shape.split("]")[0].replace(" ", "").split(",")}
    for old in sorted(size for size in sizes if size.isdecimal()):
        for new in SIZES:
            word = "?" if new is None else str(new)
            shapes = head.split("[")
            for place, shape in enumerate(shapes[1:], 1):
                inside, bracket, rest = shape.partition("]")
                changed = ", ".join(word if each.strip() == old else each.strip() for each in inside.split(","))
                shapes[place] = f"{changed}{bracket}{rest}"
            yield alone[:start] + "[".join(shapes) + alone[end:], f"the size {word} in place of {old}"


@cache
def _program(text: str) -> Program | None:
    try:
        return Draft(text, None).model.program
    except MiltextError:
        return None


def _snippet(drawn: random.Random, rules: Sequence[RewriteRule]) -> Snippet | None:
    """Draw a function of a rule: an example in half of all cases."""
    rule = drawn.choice(rules)
    texts = _texts(rule)
    kinds = ("example", "example", "near miss", "changed", "changed")
    kind = drawn.choice(kinds)
    for _ in range(10):
        text, name, change, _kind = drawn.choice([each for each in texts if each[3] == kind])
        program = _program(text)
        if program is not None:
            return Snippet(rule, name, program, change, kind)
    return None


class Planted(NamedTuple):
    """A planted function: the snippet, the names of its values, and what spoils the site of one."""

    snippet: Snippet
    names: frozenset[str]
    spoilt: str = ""
    root: str = ""


class Planter:
    """Plants functions in the main function of a graph."""

    def __init__(self, graph: Graph, drawn: random.Random) -> None:
        self._drawn = drawn
        self._function = graph.functions["main"]
        block = self._function.block
        assert block is not None, "a generated function has a block"
        self._block = block
        self.opset = self._function.own_opset or ""
        self.planted: list[Planted] = []
        self._own: set[Op] = set()

    def plant(self, snippet: Snippet, tag: str) -> None:
        """Plant a function, in some cases spoilt."""
        place = self._drawn.choice([*(op for op in self._block if op not in self._own), None, None])
        planting = Planting(lambda value: value)
        [source] = Graph(snippet.program).functions.values()
        assert source.block is not None, "a rule's function has a block"
        way = self._drawn.choice(("", "", "", *SPOILS, *PLACES)) if snippet.kind == "example" else ""
        given: dict[Value, Value] = {}
        for value in source.inputs:
            given[value] = self._given(value, place, tag, "near miss" if snippet.kind == "near miss" else way, given)
        ops = [planting.op(op) for op in source.block]
        planting.connect(lambda value: given[value] if value in given else planting.values[value])
        for op in ops:
            for value in op.outputs:
                value.name = self._function.fresh(f"{tag}_{value.name}")
            op.own().attributes.pop("name", None)
            self._block.insert_before(place, op)
        snippet = self._with_odd_number(snippet, ops)
        self._own.update(ops)
        outputs = [planting.values.get(value, given.get(value)) for value in source.block.outputs]
        self._use([value for value in outputs if value is not None], place)
        self._spoil(snippet, way, ops, place)

    def _before(self, place: Op | None) -> list[Value]:
        """Return the tensors of numbers and known sizes before a place."""
        found = [*self._function.inputs]
        for op in self._block:
            if op is place:
                break
            found += () if op in self._own else op.outputs
        return [value for value in found if _is_float(value) and not value.is_constant]

    def _given(self, wanted: Value, place: Op | None, tag: str, way: str, given: Mapping[Value, Value]) -> Value:
        """Return a value of the type of an input, another one for each: a new input, a value of the program, or of a
        state.
        """
        stated, name = wanted.type, self._function.fresh(f"{tag}_{wanted.name}")
        assert isinstance(stated, TensorType), "an input of a rule's function is a tensor"
        is_float = stated.dtype in ("fp16", "fp32") and is_whole(stated.shape) and 0 not in stated.shape
        if way == "state" and self.opset == "ios18" and stated.dtype == "fp16" and is_float:
            state = self._function.add_input(self._function.fresh(f"{tag}_state"), StateType(stated))
            read = self._put(place, "read_state", {"input": state}, name, stated)
            self._put_write(place, state, read)
            return read
        sources = self._before(place) if is_float else []
        if not sources or not stated.shape or self._drawn.random() < 0.3:
            return self._function.add_input(name, stated)
        fitting = [value for value in sources if value.type == stated and value not in given.values()]
        if fitting and way != "near miss" and self._drawn.random() < 0.7:
            return self._drawn.choice(fitting)
        return self._gathered(place, self._drawn.choice(sources), stated, name)

    def _gathered(self, place: Op | None, value: Value, stated: TensorType, name: str) -> Value:
        """Return the cosines of elements of a value in another type and shape."""
        own = value.type
        assert isinstance(own, TensorType), "it was chosen so"
        count, wanted = int(np.prod(own.shape)), int(np.prod(stated.shape))  # type: ignore[arg-type]
        indices = [self._drawn.randrange(count) for _ in range(wanted)]
        flat = self._put(
            place, "reshape", {"x": value, "shape": _literal([count])}, f"{name}_flat", TensorType(own.dtype, (count,))
        )
        arguments: dict[str, Any] = {"x": flat, "indices": _literal(indices), "axis": _literal(0)}
        arguments |= {"batch_dims": _literal(0), "validate_indices": literal_message(np.array(False))}
        taken = self._put(place, "gather", arguments, f"{name}_taken", TensorType(own.dtype, (wanted,)))
        if own.dtype != stated.dtype:
            cast = {"x": taken, "dtype": literal_message(np.array(stated.dtype, object))}
            taken = self._put(place, "cast", cast, f"{name}_cast", TensorType(stated.dtype, (wanted,)))
        shape = {"x": taken, "shape": _literal([*stated.shape])}
        shaped = self._put(place, "reshape", shape, f"{name}_shaped", stated)
        return self._put(place, "cos", {"x": shaped}, f"{name}_of_program", stated)  # no rule has it in a pattern

    def _put(self, place: Op | None, kind: str, inputs: Mapping[str, Any], name: str, stated: TensorType) -> Value:
        op = Op.new(kind, inputs, {self._function.fresh(name): stated})
        self._block.insert_before(place, op)
        self._own.add(op)
        return op.outputs[0]

    def _put_write(self, place: Op | None, state: Value, data: Value) -> None:
        assert isinstance(data.type, TensorType), "a state wraps a tensor"
        doubled = self._put(place, "add", {"x": data, "y": data}, f"{data.name}_next", data.type)
        self._block.insert_before(place, Op.new("write_state", {"input": state, "data": doubled}, {}))

    def _use(self, outputs: list[Value], place: Op | None) -> None:
        """Return values from the function, or use them in the rest of the program."""
        for value in outputs:
            later = [op for op in _after(self._block, place) if op not in self._own]
            uses = [(op, each) for op in later for each in op.operands if each.type == value.type and each.maker]
            if uses and _is_float(value) and self._drawn.random() < 0.5:
                op, other = self._drawn.choice(uses)
                for use in [use for use in other.uses if use.op is op]:
                    op.put(use, value)
            if not value.uses:
                self._block.outputs = [*self._block.outputs, *([value] if value not in self._block.outputs else [])]

    def _with_odd_number(self, snippet: Snippet, ops: list[Op]) -> Snippet:
        """Put an odd number into a constant of a changed function."""
        if snippet.kind != "changed" or self._drawn.random() < 0.7:
            return snippet
        odd, contents = self._drawn.choice(ODD), ConstantContents(None)
        for op in ops:
            literals = {"val": op.literal("val")} if op.type == "const" else op.literals()
            for name, literal in literals.items():
                array = contents.array(literal)
                if array is not None and array.dtype.kind == "f" and array.size:
                    array = array.copy()
                    array.reshape(-1)[self._drawn.randrange(array.size)] = odd
                    made = literal_message(array)
                    if op.type == "const":
                        op.own().attributes[name].CopyFrom(made)
                    else:
                        op.set_input(name, made)
                    return snippet._replace(change=f"{snippet.change}, and {odd} in `{name}` of {op.type}")
        return snippet

    # ---- spoilt matches

    def _spoil(self, snippet: Snippet, way: str, ops: list[Op], place: Op | None) -> None:
        """Spoil a match among planted operations, if one can be spoilt so."""
        rule, names = snippet.rule, frozenset(value.name for op in ops for value in op.outputs)
        finder = Finder(rule, ConstantContents(None), self.opset)
        found = [site for op in ops if op.type == rule.pattern.root.type if (site := finder.site(op)) is not None]
        sites = [site for site in found if not site.reason]
        if (way not in SPOILS and way != "inner block") or not sites:
            self.planted.append(Planted(snippet, names))
            return
        site = self._drawn.choice(sites)
        inner = [
            value
            for wanted, op in site.match.ops.items()
            for named_so, value in zip(wanted.outputs, op.outputs, strict=True)
            if op is not site.root and named_so.name not in rule.shared
        ]
        if way != "inner block" and not inner:
            self.planted.append(Planted(snippet, names))
            return
        root = site.root.outputs[0].name
        if way in ("another block", "inner block"):
            self._move(site, whole=way == "inner block")
        else:
            value = self._drawn.choice(inner)
            SPOILING[way](self, value, place)
        self.planted.append(Planted(snippet, names, way, root))

    def another_use(self, value: Value, place: Op | None) -> None:
        """Use an inner value once more."""
        assert isinstance(value.type, TensorType), "a match is of tensors"
        if value.type.dtype not in ("fp16", "fp32"):
            self.output(value, place)
            return
        self.output(self._put(place, "tanh", {"x": value}, f"{value.name}_other", value.type), place)

    def output(self, value: Value, _place: Op | None) -> None:
        """Return an inner value from the function."""
        self._block.outputs = [*self._block.outputs, value]

    def captured(self, value: Value, place: Op | None) -> None:
        """Use an inner value in an inner block."""
        assert isinstance(value.type, TensorType), "a match is of tensors"
        kind = "tanh" if value.type.dtype in ("fp16", "fp32") else "identity"
        cond = self._cond(place, {f"{value.name}_captured": value.type})
        for branch, block in enumerate(cond.blocks):
            block.append(Op.new(kind, {"x": value}, {f"{value.name}_in_{branch}": value.type}))
            assert block.last is not None, "it was appended"
            block.outputs = block.last.outputs
        self.output(cond.outputs[0], place)

    def _cond(self, place: Op | None, outputs: Mapping[str, Any]) -> Op:
        """Insert a `cond` with two empty blocks, which an input chooses."""
        chosen = self._function.add_input(self._function.fresh("chosen"), TensorType("fp32", (1,)))
        scalar = self._put(place, "squeeze", {"x": chosen, "axes": _literal([0])}, "chosen_one", TensorType("fp32", ()))
        zero = literal_message(np.array(0, np.float32))
        pred = self._put(place, "greater", {"x": scalar, "y": zero}, "is_chosen", TensorType("bool", ()))
        cond = Op.new("cond", {"pred": pred}, outputs)
        cond.set_blocks([Block(BlockMessage(), cond), Block(BlockMessage(), cond)])
        self._block.insert_before(place, cond)
        self._own.add(cond)
        return cond

    def _move(self, site: Site, *, whole: bool) -> None:
        """Move the last operation of a match, or all of them, into both blocks of a `cond`."""
        root = site.root
        cond = self._cond(root, {f"{value.name}_of_cond": value.type for value in root.outputs})
        inside = {*site.match.ops.values()} if whole else {root}
        moved = [op for op in root.block if op in inside] if root.block else []
        inner = {value for op in moved if op is not root for value in op.outputs}
        if any(use.op not in inside for value in inner for use in value.uses):
            moved = [root]
        for branch, block in enumerate(cond.blocks):
            copies: dict[Value, Value] = {}
            for op in moved:
                copy = op.copy()
                for name, operands in op.inputs.items():
                    copy.set_input(name, [_copied(each, copies) for each in operands])
                for value, output in zip(op.outputs, copy.outputs, strict=True):
                    output.name = self._function.fresh(f"{value.name}_in_{branch}")
                    copies[value] = output
                block.append(copy)
            block.outputs = [copies[value] for value in root.outputs]
        for value, output in zip(root.outputs, cond.outputs, strict=True):
            value.replace_uses(output)
        for op in reversed(moved):
            op.remove()


SPOILING: dict[str, Callable[[Planter, Value, Op | None], None]] = {
    "another use": Planter.another_use,
    "output": Planter.output,
    "captured": Planter.captured,
}


def _is_float(value: Value) -> bool:
    stated = value.type
    is_tensor = isinstance(stated, TensorType) and stated.dtype in ("fp16", "fp32")
    return is_tensor and is_whole(stated.shape) and 0 not in stated.shape  # type: ignore[union-attr]


def _copied(operand: Operand, copies: Mapping[Value, Value]) -> Operand:
    return copies.get(operand, operand) if isinstance(operand, Value) else operand


def _after(block: Block, place: Op | None) -> list[Op]:
    ops = [*block]
    return ops[ops.index(place) :] if place in ops else []


def _literal(numbers: Any) -> Any:
    return literal_message(np.array(numbers, np.int32))


# ---- what must be true


def _kept_or_changed(sums: Sums, program: Program, planted: Planted) -> Faults:
    """Return the faults of the rule of a planted function by itself: what must stay stays, and an example changes."""
    snippet = planted.snippet
    rewriter = Rewriter(Graph(program), [snippet.rule], ConstantContents(None))
    rewriter.run()
    own = [each for each in rewriter.replaced if not planted.names.isdisjoint((each.value, *each.values))]
    about = f"{snippet.name} {planted.spoilt or snippet.kind} {snippet.change}".rstrip()
    if planted.spoilt in SPOILS:
        roots = {planted.root, *(f"{planted.root}_in_{branch}" for branch in range(2))}
        wrong = [each for each in rewriter.replaced if each.value in roots]
        sums.kept[planted.spoilt] += not wrong
        return [f"{about}: replaced at {each.value}, of {' '.join(each.values)}" for each in wrong]
    if snippet.kind == "near miss":
        sums.kept["near miss"] += not own
        return [f"{about}: replaced at {each.value}" for each in own]
    if snippet.kind == "example" and not own and not planted.spoilt:
        reasons = {each.reason for each in rewriter.refused if each.value in planted.names}
        return [f"{about}: not replaced: {reasons}"]
    return []


def _rewritten(
    sums: Sums, program: Program, contents: ConstantContents, rules: Sequence[AnyRule], largest: float
) -> Faults:
    """Return the faults of a rewriting: of its sites, of the whole, of `check`, and of coremltools' loader."""
    graph, verifying = Graph(program), Verifying(contents)

    def require(site: AnySite) -> None:
        if _elements(site.match.ops.values()) <= largest:
            verifying.require(site)
        else:
            sums.left_out["a site is too large to be computed"] += 1

    rewriter = Rewriter(graph, rules, contents, verify=require)
    try:
        rewriter.run()
    except MiltextError as failure:
        return [f"{failure.diagnostics[0].message} {[each.message for each in failure.diagnostics[0].notes]}"]
    sums.sites.update(each.rule for each in rewriter.replaced)
    if not rewriter.replaced:
        return []
    after = graph.program()
    faults = [f"check: {each.message}" for each in new_errors(program, after)]
    if _elements(Graph(program).walk()) <= largest:
        faults += _whole(sums, program, after, contents, rules, rewriter.replaced)
    if not _loads(after) and _loads(program):
        faults.append(f"coremltools does not load it: {sorted({each.rule for each in rewriter.replaced})}")
    return faults


def _whole(
    sums: Sums,
    before: Program,
    after: Program,
    contents: ConstantContents,
    rules: Sequence[AnyRule],
    replaced: Sequence[PlannedSite],
) -> Faults:
    """Return the faults of whole functions."""
    try:
        proofs = prove_whole(WholeRewriting.of(before, after, rules, replaced), contents, None)
    except MiltextError as failure:
        return [f"{failure.diagnostics[0].message} {[each.message for each in failure.diagnostics[0].notes]}"]
    for each in proofs:
        sums.whole["not computed" if each.reason else "equal" if each.is_equal else "differs as declared"] += 1
        if each.reason:
            sums.left_out[f"not computed: {re.sub('`[^`]*`', '...', each.reason)[:70]}"] += 1
    return []


def _elements(ops: Iterable[Op]) -> int:
    """Return the number of elements of all values of operations."""
    values = {value for op in ops for value in (*op.operands, *op.outputs)}
    shapes = [value.type.shape for value in values if isinstance(value.type, TensorType)]
    return sum(math.prod(size or 1 for size in shape) for shape in shapes)


def _loads(program: Program) -> bool:
    try:
        to_pymil(read(program.SerializeToString(), "program.pb"))
    except Exception:  # noqa: BLE001  # coremltools raises anything
        return False
    return True


if __name__ == "__main__":
    main()
