"""Values that no operation can take: `check` and `infer` tell of them, or say nothing; they never stumble."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from checking.test_inference_rules import BOXES, EXAMPLES, X
from click.testing import CliRunner
from conftest import thinned

import miltext
from miltext.checking.inference import RULES
from miltext.checking.verifier import check_text, errors_in
from miltext.cli import command
from miltext.diagnostics import Diagnostic, ParseError
from miltext.schema.operations import Signature, all_names, signature
from miltext.schema.types import ListType, StateType, TensorType, spelled

WRONG = {
    "int32": [
        "-1",
        "0",
        "[]",
        "[1]",
        "[-1, -2]",
        "[0, 0]",
        "[[1, 2], [3, 4]]",
        "2147483647",
        "[2147483647, -2147483648]",
    ],
    "int64": ["-9223372036854775808", "[9223372036854775807, 9223372036854775807]"],
    "fp32": ["1.5", "-2.5", "[0.5]", "inf", "nan", "3e38"],
    "bool": ["true", "[false]", "[true, false, true]"],
    "string": ['"sam"', '""', '["a"]'],
}
"""What a parameter is given, by the data type that its elements look like."""


def typed(dtype: str, literal: str) -> str:
    """A literal with its type."""
    rows = literal.count("[") - 1 if literal.startswith("[[") else 0
    count = 0 if literal == "[]" else literal.count(",") + 1
    shape = [rows, count // rows] if rows else [count]
    return f"tensor<{dtype}, {shape}>({literal})" if literal.startswith("[") else f"{dtype}({literal})"


def spelling(given: Any) -> str:
    """A constant of the examples as a text has it."""
    plain = str(given).lower() if isinstance(given, bool) else f'"{given}"' if isinstance(given, str) else str(given)
    if not isinstance(given, tuple):
        return typed({bool: "bool", int: "int32", float: "fp32", str: "string"}[type(given)], plain)
    return typed("bool" if isinstance(given[0], bool) else "int32", str(list(given)).lower())


class Sites:
    """A function of operations, whose inputs are made as its operations need them."""

    def __init__(self) -> None:
        self.inputs: dict[str, str] = {}
        self.operations: list[str] = []

    def operand(self, given: Any) -> str:
        if isinstance(given, list):
            return f"({', '.join(map(self.operand, given))})"
        if given is not None and not isinstance(given, TensorType | ListType | StateType):
            return spelling(given)
        stated = "tensor<fp16, [?]>" if given is None else spelled(given)
        return self.inputs.setdefault(stated, f"x{len(self.inputs)}")

    def add(self, op_type: str, operands: dict[str, str], type: str, results: int) -> None:
        """An operation whose outputs are of the type."""
        made = ", ".join(f"{type} y{len(self.operations)}_{index}" for index in range(results))
        given = ", ".join(f"{name} = {operand}" for name, operand in operands.items())
        self.operations.append(f"{made}{' = ' * bool(made)}{op_type}({given});")

    def text(self, opset: str) -> str:
        inputs = ", ".join(f"{stated} {name}" for stated, name in [*self.inputs.items(), ("fp16", "nothing")])
        body = "\n".join(self.operations)
        return f"program(1.3){{func main<{opset}>({inputs}){{\n{body}\n}} -> (nothing);}}"


@cache
def examples() -> dict[str, list[dict[str, Any]]]:
    """Arguments that are right, by operation; `x` alone for those of which no example knows."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in all_names()}
    for op_type, inputs, expected in (*EXAMPLES, ("non_maximum_suppression", BOXES, X)):
        if expected is not None and op_type in found:
            found[op_type].append(inputs)
    return {op_type: cases or [{"x": X}] for op_type, cases in found.items()}


def wrong_values(op_type: str, known: Signature, draft: bool) -> Iterator[str]:
    """Texts in which each parameter of the operation is given each of WRONG, in place of what is right or besides.

    Parameters take turns at the examples of what is right.
    """
    rights = examples()[op_type]
    for turn, name in enumerate(known.parameters):
        for right in thinned(rights, turn, len(rights)):
            sites = Sites()
            operands = {key: sites.operand(given) for key, given in right.items() if given is not None}
            for dtype, literals in WRONG.items():
                for literal in literals:
                    given = literal if draft else typed(dtype, literal)
                    sites.add(op_type, {**operands, name: given}, "_" if draft else "fp16", known.outputs[0])
            yield sites.text(known.opset)


OPERATIONS = [name for name in all_names() if name != "const"]


@pytest.mark.parametrize("op_type", OPERATIONS)
def test_a_draft_with_a_wrong_value_is_refused_or_made_whole(op_type: str) -> None:
    known = signature(op_type)
    assert known is not None
    for text in wrong_values(op_type, known, draft=True):
        checked = check_text(text)
        wrong = errors_in(checked.diagnostics)
        with pytest.raises(ParseError) as refused:
            miltext.infer_draft(text)
        assert refused.value.diagnostics == wrong
        assert checked.types is not None
        written = [edit.partition("(")[0] for edit in checked.types.edits.values()]
        assert not any("-" in edit or "((" in edit for edit in written)
        right = text
        while wrong:  # a value is told of where it is first used
            right = without_lines_of(wrong, right)
            wrong = errors(right)
        assert errors(miltext.infer_draft(right)) == []


def errors(text: str) -> list[Diagnostic]:
    return errors_in(miltext.check(text))


def without_lines_of(found: list[Diagnostic], text: str) -> str:
    """The text without the operations, each a line, that something is wrong with."""
    wrong = {text.count("\n", 0, diagnostic.span.start) for diagnostic in found if diagnostic.span}
    assert wrong
    assert 0 not in wrong, f"not an operation's: {found}"
    return "\n".join(line for number, line in enumerate(text.split("\n")) if number not in wrong)


@pytest.mark.parametrize("op_type", OPERATIONS)
def test_a_text_with_a_wrong_value_is_checked(op_type: str) -> None:
    known = signature(op_type)
    assert known is not None
    for text in wrong_values(op_type, known, draft=False):
        suggested = [found.suggestion or "" for found in miltext.check(text) if found.code == "MIL701"]
        assert not any("-" in made or "(" in made for made in suggested)


def test_the_family_reaches_every_rule() -> None:
    """All but those whose values are blocks, and one that takes nothing but `x`."""
    reached = {RULES[op_type] for op_type, cases in examples().items() if cases != [{"x": X}] and op_type in RULES}
    assert {rule.__name__ for rule in set(RULES.values()) - reached} == {"cond", "while_loop", "non_zero"}


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("reshape(shape = [-8, -32], x = x)", "`shape` of `reshape` takes numbers from -1 on, not -8"),
        ("fill(shape = [-2, 3])", "`shape` of `fill` takes numbers from 0 on, not -2"),
        (
            "resize_bilinear(target_size_height = [4], target_size_width = 4, x = x)",
            "`target_size_height` of `resize_bilinear` takes a scalar, not a tensor of",
        ),
        (
            'max_pool(kernel_sizes = [2, 2], pad_type = "valid", strides = [-1, -1], x = x)',
            "`strides` of `max_pool` takes numbers from 1 on, not -1",
        ),
        (
            "reduce_sum(axes = [1], keep_dims = [false], x = x)",
            "`keep_dims` of `reduce_sum` takes a scalar, not a tensor of",
        ),
        (
            "topk(axis = 1, k = [2], x = x, ascending = false, sort = true)",
            "`k` of `topk` takes a scalar, not a tensor of",
        ),
    ],
)
def test_a_wrong_value_is_named_and_the_draft_refused(tmp_path: Path, operation: str, message: str) -> None:
    draft = tmp_path / "draft.mil"
    outputs = ", ".join(f"_ {name}" for name in "yz"[: operation.count("topk") + 1])
    text = f"program(1.3){{func main<ios18>(tensor<fp32, [1, 4, 8, 8]> x){{ {outputs} = {operation}; }} -> (y);}}"
    draft.write_text(text, encoding="utf-8")
    for verb in ("check", "infer"):
        ended = CliRunner().invoke(command, [verb, str(draft)])
        assert ended.exit_code == 1
        assert isinstance(ended.exception, SystemExit)
        assert message in ended.output


def test_a_string_is_not_a_number_however_often() -> None:
    """A product of a string and a number would take gigabytes."""
    text = """program(1.3){func main<ios18>(fp32 x){
        int32 y = mul(x = string("abcdefgh"), y = int32(2147483647)); fp32 z = relu(x = x); } -> (z);}"""
    assert {found.code for found in miltext.check(text)} == {"MIL505"}


@pytest.mark.any_version
def test_the_commands_end_with_findings(tmp_path: Path) -> None:
    """Wrong values for each operation, with types and without, by the commands."""
    for op_type in OPERATIONS:
        known = signature(op_type)
        assert known is not None
        for draft in (False, True):
            text = next(wrong_values(op_type, known, draft=draft), "")
            (tmp_path / f"{op_type}_{draft}.mil").write_text(text, encoding="utf-8")
    checked = CliRunner().invoke(command, ["check", "--format", "json", str(tmp_path)])
    assert isinstance(checked.exception, SystemExit)
    assert checked.exit_code == 1
    for path in sorted(tmp_path.iterdir())[::7]:
        inferred = CliRunner().invoke(command, ["infer", str(path), "-o", str(tmp_path / "whole.mil")])
        assert inferred.exit_code in (0, 1)
        assert inferred.exception is None or isinstance(inferred.exception, SystemExit)
        assert (tmp_path / "whole.mil").exists() == (inferred.exit_code == 0)
        (tmp_path / "whole.mil").unlink(missing_ok=True)
