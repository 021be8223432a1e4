"""`compare` finds a planted fault at exactly its operation, in models of 50 to 3,000 operations."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import pytest

import miltext
from miltext import Comparison, compare
from miltext.printing.renaming import rename_values

Edit = Callable[[str], str]


class Network(NamedTuple):
    """A generated text, and the names of the values of each kind in it."""

    text: str
    names: dict[str, list[str]]


BLOCK = """\
tensor<{t}, [8, 8]> w{i} = const()[val = tensor<{t}, [8, 8]>({weight})];
{shape} p{i} = linear(x = {last}, weight = w{i});
{shape} n{i} = layer_norm(x = p{i}, axes = tensor<int32, [1]>([1]), epsilon = {t}(0.001));
{shape} a{i} = silu(x = n{i});
{shape} g{i} = tanh(x = a{i});
{shape} s{i} = mul(x = g{i}, y = {t}(0.5));
{shape} r{i} = add(x = s{i}, y = {last});
{shape} m{i} = mul(x = r{i}, y = {t}(0.75));
"""
"""A block with a residual connection: w and p a product with a matrix, n its normalization, a and g activations, s a
scale, r a sum, m a smaller one."""


def network(operations: int, dtype: str = "fp32") -> Network:
    """Return a model of at least so many operations, block after block."""
    shape = f"tensor<{dtype}, [4, 8]>"
    text, last = "", "x"
    count = -(-operations // BLOCK.count("\n"))
    for i in range(count):
        weight = [[((row * 5 + column * 3 + i) % 13 - 6) / 10 for column in range(8)] for row in range(8)]
        text += BLOCK.format(t=dtype, shape=shape, i=i, weight=weight, last=last)
        last = f"m{i}"
    names = {kind: [f"{kind}{i}" for i in range(count)] for kind in "wpnagsrm"}
    return Network(f"program(1.3)\n{{\nfunc main<ios18>({shape} x) {{\n{text}}} -> ({last});\n}}\n", names)


def edited(text: str, name: str, edit: Edit) -> str:
    """The text with another line for one value."""
    lines = text.split("\n")
    (place,) = [number for number, line in enumerate(lines) if f" {name} = " in line]
    changed = edit(lines[place])
    assert changed != lines[place]
    lines[place] = changed
    return "\n".join(lines)


def transposed(line: str) -> str:
    """The line of a weight with its matrix transposed."""
    head, _, rest = line.partition(">([[")
    rows = [row.split(", ") for row in rest.removesuffix("]])];").split("], [")]
    columns = [f"[{', '.join(column)}]" for column in zip(*rows, strict=True)]
    return f"{head}>([{', '.join(columns)}])];"


FAULTS: dict[str, tuple[str, Edit]] = {
    "a constant": ("s", lambda line: line.replace("(0.5)", "(0.55)")),
    "an activation": ("a", lambda line: line.replace("silu(", "relu(")),
    "an activation that is like it": ("a", lambda line: line.replace("silu(", 'gelu(mode = string("EXACT"), ')),
    "a gate": ("g", lambda line: line.replace("tanh(", "sigmoid(")),
    "a transposed weight": ("w", transposed),
    "a number of a weight": ("w", lambda line: line.replace("0.6", "0.9", 1)),
    "another operation": ("r", lambda line: line.replace("add(", "sub(")),
    "another epsilon": ("n", lambda line: line.replace("(0.001)", "(0.1)")),
}
"""What is done to the line of a value of some kind."""


def found(comparison: Comparison) -> str | None:
    return comparison.first.value.name if comparison.first else None


@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("where", [0.0, 0.3, 0.8, 1.0])
def test_a_fault_is_found_at_its_operation(fault: str, where: float, dtype: str) -> None:
    text, names = network(50, dtype)
    kind, edit = FAULTS[fault]
    name = names[kind][round(where * (len(names[kind]) - 1))]
    comparison = compare(text, edited(text, name, edit))
    assert found(comparison) == name
    assert [origin.value.name for origin in comparison.origins] == [name]
    assert not comparison.ok
    line = next(number for number, line in enumerate(text.split("\n"), 1) if f" {name} = " in line)
    assert comparison.to_json()["first"]["line"] == line


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_between_precisions(fault: str) -> None:
    """One model is fp32, the other its conversion to fp16 with a mistake."""
    kind, edit = FAULTS[fault]
    text, names = network(120)
    name = names[kind][len(names[kind]) // 2]
    comparison = compare(text, edited(network(120, "fp16").text, name, edit))
    assert comparison.min_snr == 40
    assert found(comparison) == name


def test_a_conversion_without_a_fault_passes() -> None:
    comparison = compare(network(120).text, network(120, "fp16").text)
    assert (comparison.ok, comparison.first, comparison.min_snr) == (True, None, 40)
    assert 50 < comparison.outputs[0].measure.level < 90


@pytest.mark.any_version
@pytest.mark.parametrize("where", [0.1, 0.5, 0.9])
def test_a_fault_in_3000_operations(where: float) -> None:
    text, names = network(3000)
    name = names["a"][int(where * len(names["a"]))]
    wrong = edited(text, name, FAULTS["an activation"][1])
    start = time.perf_counter()
    comparison = compare(text, wrong)
    taken = time.perf_counter() - start
    assert found(comparison) == name
    assert [origin.value.name for origin in comparison.origins] == [name]
    assert len(comparison.values) + len(comparison.outputs) == 3001
    assert taken < 20, taken  # it takes 1.6 seconds on a busy machine


@pytest.mark.parametrize("where", [0.0, 0.5, 1.0])
def test_all_names_and_the_order_may_differ(where: float) -> None:
    text, names = network(50)
    name = names["a"][round(where * (len(names["a"]) - 1))]
    wrong = edited(text, name, FAULTS["an activation"][1])
    program = miltext.parse(wrong)
    rename_values(program)
    comparison = compare(text, program)
    assert comparison.first is not None
    assert comparison.first.value.old_name == name
    assert comparison.first.value.operation == "relu"


UNDERFLOW = """program(1.3)
{{
    func main<ios18>(tensor<{dtype}, [4, 8]> x) {{
            tensor<{dtype}, [4, 8]> small = mul(x = x, y = {dtype}({factor}));
            tensor<{dtype}, [4, 8]> energy = {operation}(x = small);
            tensor<{dtype}, [4, 8]> y = mul(x = energy, y = {dtype}({back}));
        }} -> (y);
}}
"""


@pytest.mark.parametrize(
    ("operation", "factor", "back", "name"),
    [
        ("square", 1e-4, 1e4, "energy"),
        ("square", 2e3, 1e-4, "energy"),  # too large
        ("square", 1.0, 1.0, None),
        ("exp", 50.0, 1e-3, "energy"),
        ("relu", 1e-8, 1e4, "small"),
    ],
)
def test_a_number_beyond_fp16_is_named_at_its_operation(
    operation: str, factor: float, back: float, name: str | None
) -> None:
    texts = [UNDERFLOW.format(dtype=dtype, operation=operation, factor=factor, back=back) for dtype in ("fp32", "fp16")]
    comparison = compare(texts[0], texts[1])
    assert found(comparison) == name
    assert comparison.ok is (name is None)
