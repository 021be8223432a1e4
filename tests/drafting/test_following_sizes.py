"""Texts whose constants follow from a size: reshaped, each is the text that is written for the other size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import miltext
from miltext.descriptions.sizes import read_sizes
from miltext.diagnostics import Diagnostic, ParseError
from miltext.drafting.reshaping import reshape


def ints(*numbers: int) -> str:
    return f"tensor<int32, [{len(numbers)}]>([{', '.join(map(str, numbers))}])"


def bools(*values: bool) -> str:
    return f"tensor<bool, [{len(values)}]>([{', '.join(str(each).lower() for each in values)}])"


def floats(numbers: Sequence[float]) -> str:
    listed = ", ".join(str(np.float32(each)) for each in numbers)
    return f"tensor<fp32, [{len(numbers)}]>([{listed}])"


def program(n: int, lines: str, outputs: str = "y", shape: str = "[1, 4, {n}]") -> str:
    sizes = shape.replace("{n}", str(n))
    return (
        f"program(1.3)\n{{\n    func main<ios17>(tensor<fp32, {sizes}> x) {{\n{lines}\n        }} -> ({outputs});\n}}\n"
    )


def reshaped(text: str, sizes: str) -> tuple[str, list[Diagnostic]]:
    told: list[Diagnostic] = []
    return reshape(text, read_sizes([f"x={sizes}"]), on_warning=told.append), told


def sliced(begin: int, end: int, length: int, *, begin_mask: bool = False, end_mask: bool = False) -> str:
    bounds = f"begin = {ints(0, 0, begin)}, end = {ints(1, 4, end)}"
    masks = f"begin_mask = {bools(True, True, begin_mask)}, end_mask = {bools(True, True, end_mask)}"
    return f"tensor<fp32, [1, 4, {length}]> y = slice_by_index({bounds}, {masks}, x = x);"


CALLS = (
    "band_part(lower = int32(-1), upper = int32({last}), x = x)",
    "clamped_relu(alpha = fp32(0.1), beta = fp32({last}), x = x)",
    "linear_activation(alpha = fp32({last}), beta = fp32(0.1), x = x)",
    "select(a = x, b = fp32({last}), cond = bool(true))",
    "thresholded_relu(alpha = fp32({last}), x = x)",
)
"""Operations with a number that may be computed from a size."""


def _called(call: str, n: int) -> str:
    return f"tensor<fp32, [1, 4, {n}]> y = {call.replace('{last}', str(n - 1))};"


class Case(NamedTuple):
    """A program of `[1, 4, n]`, and the codes of what is reported where 16 becomes another size."""

    lines: Callable[[int], str]
    told: tuple[str, ...] = ()


WRITTEN, STAYS = "MIL490", "MIL491"

NUMBERS: dict[str, Callable[[int], float]] = {
    "one by a size and one": lambda n: 1 / (n + 1),
    "one by the logarithm of a size": lambda n: 1 / math.log(n),
    "how many pairs a size has": lambda n: n * (n - 1) / 2,
    "one by its pairs": lambda n: 2 / (n * (n - 1)),
}


def _scaled(form: Callable[[int], float], n: int) -> str:
    return f"tensor<fp32, [1, 4, {n}]> y = mul(x = x, y = fp32({np.float32(form(n))}));"


REVERSED = "reverse_sequence(batch_axis = int32(1), lengths = {lengths}, seq_axis = int32(2), x = x)"

MAYBE = {
    "a power of a size": lambda n: f"mul(x = x, y = fp32({np.float32(0.9**n)}))",
    "a slope of one by a size": lambda n: f"elu(alpha = fp32({1 / n}), x = x)",
    "one length of many": lambda n: REVERSED.format(lengths=ints(n, 7, 3, 1)),
}
"""Operations with a number that may be computed from a size, and as well for another reason: it is reported."""


@pytest.mark.parametrize("name", MAYBE)
def test_a_number_that_may_come_from_a_size_is_reported(name: str) -> None:
    text = program(16, f"tensor<fp32, [1, 4, 16]> y = {MAYBE[name](16)};")
    made, told = reshaped(text, "1,4,24")
    assert miltext.parse(made) == miltext.parse(text.replace("4, 16]", "4, 24]"))
    assert [each.code for each in told] == [STAYS]
    assert reshaped(text, "1,4,16") == (text, [])


@pytest.mark.parametrize("slope", [0.01, 0.1, 0.2, 0.25])
def test_usual_slopes_are_not_reported(slope: float) -> None:
    line = f"tensor<fp32, [1, 4, {round(1 / slope)}]> y = leaky_relu(alpha = fp32({slope}), x = x);"
    assert reshaped(program(round(1 / slope), line), "1,4,24")[1] == []


CASES = {
    "lengths of all": Case(
        lambda n: f"tensor<fp32, [1, 4, {n}]> y = {REVERSED.format(lengths=ints(n, n, n, n))};", (WRITTEN,)
    ),
    "to two before the end": Case(lambda n: sliced(0, n - 2, n - 2), (WRITTEN,)),
    "to the end": Case(lambda n: sliced(3, n, n - 3), (STAYS, WRITTEN)),
    "two at both ends": Case(lambda n: sliced(2, n - 2, n - 4), (STAYS, WRITTEN)),
    "the first half": Case(lambda n: sliced(0, n // 2, n // 2), (WRITTEN,)),
    "the second half": Case(lambda n: sliced(n // 2, 0, n - n // 2, end_mask=True), (WRITTEN,)),
    "the centre": Case(lambda n: sliced(n // 4, 3 * n // 4, n // 2), (WRITTEN, WRITTEN)),
    "the first three": Case(lambda n: sliced(0, 3, 3), (STAYS,)),
    "the first": Case(lambda n: sliced(0, 1, 1)),
    "from the second on": Case(lambda n: sliced(1, 0, n - 1, end_mask=True)),
    "to the third last": Case(lambda n: sliced(0, -3, n - 3)),
    "two halves of a split": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, {n // 2}]> a, tensor<fp32, [1, 4, {n // 2}]> b = split(axis = int32(2),
            split_sizes = {ints(n // 2, n // 2)}, x = x);
            tensor<fp32, [1, 4, {n // 2}]> y = add(x = a, y = b);"""
        ),
        (WRITTEN,),
    ),
    "rows and back": Case(
        lambda n: (
            f"""tensor<fp32, [1, {4 * n}]> a = reshape(shape = {ints(1, 4 * n)}, x = x);
            tensor<fp32, [1, {4 * n}]> b = softmax(axis = int32(-1), x = a);
            tensor<fp32, [1, 4, {n}]> y = reshape(shape = {ints(1, 4, n)}, x = b);"""
        )
    ),
    "blocks of four": Case(
        lambda n: f"tensor<fp32, [1, 4, {n // 4}, 4]> y = reshape(shape = {ints(1, 4, n // 4, 4)}, x = x);", (WRITTEN,)
    ),
    "a constant that several use": Case(
        lambda n: (
            f"""tensor<int32, [2]> s = const()[val = {ints(4, n)}];
            tensor<fp32, [4, {n}]> a = reshape(shape = s, x = x);
            tensor<fp32, [4, {n}]> b = tanh(x = a);
            tensor<fp32, [4, {n}]> y = reshape(shape = s, x = b);"""
        )
    ),
    "copies of a mean": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, 1]> m = reduce_mean(axes = {ints(2)}, keep_dims = bool(true), x = x);
            tensor<fp32, [1, 4, {n}]> y = tile(reps = {ints(1, 1, n)}, x = m);"""
        ),
        (WRITTEN,),
    ),
    "a window of all": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, 1]> y = avg_pool(exclude_padding_from_average = bool(false),
            kernel_sizes = {ints(n)}, pad_type = string("valid"), strides = {ints(n)}, x = x);"""
        ),
        (WRITTEN,),
    ),
    "windows of two": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, {n // 2}]> y = max_pool(kernel_sizes = {ints(2)},
            pad_type = string("valid"), strides = {ints(2)}, x = x);"""
        ),
        (STAYS,),
    ),
    "pads to forty": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, 40]> y = pad(constant_val = fp32(0.0), mode = string("constant"),
            pad = {ints(0, 0, 0, 0, 0, 40 - n)}, x = x);"""
        ),
        (WRITTEN,),
    ),
    "pads by one": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, {n + 2}]> y = pad(constant_val = fp32(0.0), mode = string("constant"),
            pad = {ints(0, 0, 0, 0, 1, 1)}, x = x);"""
        ),
        (STAYS,),
    ),
    "pads by a reflection": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, {n + 2}]> y = pad(constant_val = fp32(0.0), mode = string("reflect"),
            pad = {ints(0, 0, 0, 0, 1, 1)}, x = x);"""
        )
    ),
    "all in order": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, {n}]> y, tensor<int32, [1, 4, {n}]> i = topk(ascending = bool(false),
            axis = int32(2), k = int32({n}), x = x);"""
        ),
        (WRITTEN,),
    ),
    "the root of a size": Case(
        lambda n: f"tensor<fp32, [1, 4, {n}]> y = mul(x = x, y = fp32({np.float32(1 / math.sqrt(n))}));", (WRITTEN,)
    ),
    "an unbiased variance": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4]> m = reduce_mean(axes = {ints(2)}, keep_dims = bool(false), x = x);
            tensor<fp32, [1, 4]> y = mul(x = m, y = fp32({np.float32(n / (n - 1))}));"""
        ),
        (WRITTEN,),
    ),
    "positions": Case(lambda n: f"tensor<fp32, [1, 4, {n}]> y = add(x = x, y = {floats(range(n))});", (WRITTEN,)),
    "one value": Case(lambda n: f"tensor<fp32, [1, 4, {n}]> y = mul(x = x, y = {floats([1.0] * n)});", (WRITTEN,)),
    "reversed by indices": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, {n}]> y = gather(axis = int32(2), batch_dims = int32(0),
            indices = {ints(*range(n - 1, -1, -1))}, validate_indices = bool(false), x = x);"""
        ),
        (WRITTEN,),
    ),
    "the last by its index": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4]> y = gather(axis = int32(2), batch_dims = int32(0),
            indices = int32({n - 1}), validate_indices = bool(false), x = x);"""
        ),
        (WRITTEN,),
    ),
    "the first by its index": Case(
        lambda n: (
            """tensor<fp32, [1, 4]> y = gather(axis = int32(2), batch_dims = int32(0), indices = int32(0),
            validate_indices = bool(false), x = x);"""
        )
    ),
    **{f"a number that is {words}": Case(partial(_scaled, form), (WRITTEN,)) for words, form in NUMBERS.items()},
    "clipped to the last place": Case(
        lambda n: f"tensor<fp32, [1, 4, {n}]> y = clip(alpha = fp32(0.0), beta = fp32({n - 1}), x = x);", (WRITTEN,)
    ),
    "clipped to six": Case(lambda n: f"tensor<fp32, [1, 4, {n}]> y = clip(alpha = fp32(0.0), beta = fp32(6), x = x);"),
    **{f"the last place in {call[: call.index('(')]}": Case(partial(_called, call), (WRITTEN,)) for call in CALLS},
    "compared with the last place": Case(
        lambda n: f"tensor<bool, [1, 4, {n}]> y = greater_equal(x = x, y = fp32({n - 1}));", (WRITTEN,)
    ),
    "put at three places": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, {n}]> y = scatter(axis = int32(2), data = x, indices = {ints(0, 2, 5)},
            mode = string("update"), updates = tensor<fp32, [1, 4, 3]>([[{", ".join(["[1, 2, 3]"] * 4)}]]),
            validate_indices = bool(false));"""
        ),
        (STAYS,),
    ),
    "put at the first place": Case(
        lambda n: (
            f"""tensor<fp32, [1, 4, {n}]> y = scatter(axis = int32(2), data = x, indices = {ints(0)},
            mode = string("update"), updates = tensor<fp32, [1, 4, 1]>([[[1], [2], [3], [4]]]),
            validate_indices = bool(false));"""
        )
    ),
    "taken at places of its own": Case(
        lambda n: (
            """tensor<fp32, [1, 4, 2]> y = gather_along_axis(axis = int32(2),
            indices = tensor<int32, [1, 4, 2]>([[[0, 7], [1, 2], [3, 0], [0, 5]]]), validate_indices = bool(false),
            x = x);"""
        ),
        (STAYS,),
    ),
    "taken at points": Case(
        lambda n: (
            """tensor<fp32, [2]> y = gather_nd(batch_dims = int32(0),
            indices = tensor<int32, [2, 3]>([[0, 1, 7], [0, 3, 2]]), validate_indices = bool(false), x = x);"""
        ),
        (STAYS,),
    ),
}


@pytest.mark.parametrize("now", [24, 8])
@pytest.mark.parametrize("name", CASES)
def test_a_text_for_another_size(name: str, now: int) -> None:
    case = CASES[name]
    made, told = reshaped(program(16, case.lines(16)), f"1,4,{now}")
    assert miltext.parse(made) == miltext.parse(program(now, case.lines(now)))
    assert tuple(each.code for each in told) == case.told
    assert {each.severity for each in told} <= {"warning"}
    assert miltext.check(made) == []


@pytest.mark.parametrize("name", CASES)
def test_a_text_reshaped_to_its_own_size_is_itself(name: str) -> None:
    text = program(16, CASES[name].lines(16))
    assert reshaped(text, "1,4,16") == (text, [])


OF_ONE_BATCH = {
    "a constant that several use",  # there, the batch is merged
    *("put at three places", "put at the first place", "taken at places of its own"),  # their constants have a batch
}


@pytest.mark.parametrize("name", sorted(CASES.keys() - OF_ONE_BATCH))
def test_another_batch_changes_no_constant_that_has_none(name: str) -> None:
    """What is `[1, ...]` in a shape follows; nothing else does, and nothing is to be decided."""
    text = program(16, CASES[name].lines(16))
    made, told = reshaped(text, "3,4,16")
    before, now = ([line for line in each.splitlines() if "reshape" not in line] for each in (text, made))
    assert [line.replace("[3, ", "[1, ") for line in now] == before
    assert {each.code for each in told} <= {"MIL491"}


OPEN = {
    "to two before the end": "end = tensor<int32, [3]>([1, 4, -2])",
    "rows and back": "reshape(shape = tensor<int32, [2]>([1, -1])",
    "the first half": "MIL492",
    "copies of a mean": "MIL492",
    "the root of a size": "MIL492",
    "positions": "MIL492",
    "reversed by indices": "MIL492",
    "all in order": "MIL492",
}


@pytest.mark.parametrize("name", OPEN)
def test_a_range_keeps_only_constants_that_follow_any_size(name: str) -> None:
    text = program(16, CASES[name].lines(16))
    if OPEN[name] != "MIL492":
        made, _ = reshaped(text, "1,4,6..24")
        assert OPEN[name] in made
        return
    with pytest.raises(ParseError) as refused:
        reshaped(text, "1,4,6..24")
    [found] = refused.value.diagnostics
    assert (found.code, found.severity) == ("MIL492", "error")
    assert found.span is not None
    assert "convert the model anew" in found.message


REFUSED = {
    "indices in no order": """tensor<fp32, [1, 4, 4]> y = gather(axis = int32(2), batch_dims = int32(0),
        indices = tensor<int32, [4]>([2, 0, 3, 1]), validate_indices = bool(false), x = x);""",
    "parts of several sizes": """tensor<fp32, [1, 4, 1]> a, tensor<fp32, [1, 4, 3]> y = split(axis = int32(2),
        split_sizes = tensor<int32, [2]>([1, 3]), x = x);""",
    "each step by itself": "\n".join(
        f"tensor<fp32, [1, 4, 1]> {name} = slice_by_index(begin = {ints(0, 0, at)}, end = {ints(1, 4, at + 1)}, x = x);"
        for at, name in enumerate("abcy")
    ),
    "all places, element by element": """tensor<fp32, [1, 4, 4]> y = gather_along_axis(axis = int32(2),
        indices = tensor<int32, [1, 4, 4]>([[[3, 2, 1, 0], [3, 2, 1, 0], [3, 2, 1, 0], [3, 2, 1, 0]]]),
        validate_indices = bool(false), x = x);""",
    "places in a row of rows": """tensor<fp32, [16]> flat = reshape(shape = tensor<int32, [1]>([-1]), x = x);
        tensor<fp32, [16]> y = scatter(axis = int32(0), data = flat, indices = tensor<int32, [4]>([0, 4, 8, 12]),
        mode = string("update"), updates = tensor<fp32, [4]>([0, 0, 0, 0]), validate_indices = bool(false));""",
    "one place in a row of rows": """tensor<fp32, [16]> flat = reshape(shape = tensor<int32, [1]>([-1]), x = x);
        tensor<fp32, [2]> y = gather(axis = int32(0), batch_dims = int32(0), indices = tensor<int32, [2]>([4, 8]),
        validate_indices = bool(false), x = flat);""",
    "a loop that counts": """tensor<int32, [1]> zero = const()[val = tensor<int32, [1]>([0])];
        tensor<int32, [1]> k, tensor<fp32, [1, 4, 4]> y = while_loop(loop_vars = (zero, x))
        (tensor<int32, [1]> i, tensor<fp32, [1, 4, 4]> h) {
            tensor<bool, [1]> go = less(x = i, y = tensor<int32, [1]>([4]));
        } -> (go)
        (tensor<int32, [1]> i, tensor<fp32, [1, 4, 4]> h) {
            tensor<int32, [1]> next = add(x = i, y = tensor<int32, [1]>([1]));
            tensor<fp32, [1, 4, 4]> more = tanh(x = h);
        } -> (next, more);""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_size_that_cannot_follow_is_an_error_at_its_place(name: str) -> None:
    text = program(4, REFUSED[name])
    assert miltext.check(text) == []
    with pytest.raises(ParseError) as refused:
        reshaped(text, "1,4,6")
    found = refused.value.diagnostics
    assert {each.code for each in found} == {"MIL492"}
    assert all(each.span is not None for each in found)


def test_an_output_that_keeps_an_old_size_is_reported() -> None:
    lines = "tensor<fp32, [1, 4, 16]> y = my_op(x = x);"
    _, told = reshaped(program(16, lines), "1,4,24")
    assert {"MIL436", "MIL491"} == {each.code for each in told}


def test_equal_changes_in_many_places_are_reported_once() -> None:
    lines = "\n".join(
        f"tensor<fp32, [1, 4, 14]> y{at} = slice_by_index(begin = {ints(0, 0, 0)}, end = {ints(1, 4, 14)}, x = x);"
        for at in range(9)
    )
    _, told = reshaped(program(16, lines, "y8"), "1,4,24")
    [found] = told
    assert "the same finding in 5 more places" in found.message
    assert len(found.notes) == 3


def test_a_constant_that_others_need_as_it_is_stays() -> None:
    lines = f"""tensor<int32, [2]> s = const()[val = {ints(4, 16)}];
            tensor<fp32, [4, 16]> y = reshape(shape = s, x = x);
            tensor<fp32, [4, 16]> z = fill(shape = s, value = fp32(1.0));"""
    made, _ = reshaped(program(16, lines, "y, z"), "1,4,24")
    assert "const()[val = tensor<int32, [2]>([4, 16])]" in made
    assert "reshape(shape = tensor<int32, [2]>([4, 24]), x = x)" in made


def test_a_constant_in_a_weight_file(tmp_path: Path) -> None:
    source = "tensor<fp32, [16]> p = const()[val = {}];\ntensor<fp32, [1, 4, 16]> y = add(x = x, y = p);"
    text = program(16, source.format(floats(range(16))))
    (tmp_path / "m.mil").write_text(text)
    miltext.build(tmp_path / "m.mil", tmp_path / "M.mlpackage", externalize=10)
    model = miltext.load(tmp_path / "M.mlpackage")
    whole = miltext.to_text(model.program)
    assert "BLOBFILE" in whole
    sizes = read_sizes(["x=1,4,24"])
    made = reshape(whole, sizes, weights=model.model_path)
    expected = program(24, source.replace("16", "24").format(floats(range(24))))
    assert miltext.parse(made).functions["main"] == miltext.parse(expected).functions["main"]
    with pytest.raises(ParseError, match="does not broadcast"):
        reshape(whole, sizes)


TOO_LARGE = 2**31


def test_sizes_that_coremltools_cannot_count_with() -> None:
    lines = "tensor<fp32, [1, 4, 16]> y = relu(x = x);"
    made, told = reshaped(program(16, lines), f"1,4,{TOO_LARGE - 1}")
    assert (made, told) == (program(TOO_LARGE - 1, lines.replace("16", str(TOO_LARGE - 1))), [])
    joined = "concat(axis = int32(2), interleave = bool(false), values = (x, x));"
    for words, each in {
        f"1,4,{TOO_LARGE}": lines,
        "1,4,99999999999": lines,
        f"1,4,1..{TOO_LARGE}": lines,
        "1,4,999999999": CASES["rows and back"].lines(16),
        "1,8,1999999999": f"tensor<fp32, [1, 4, 32]> y = {joined}",
    }.items():
        with pytest.raises(ParseError) as refused:
            reshaped(program(16, each), words)
        [found] = refused.value.diagnostics
        assert (found.code, found.span is not None) == ("MIL493", True), words
        assert "up to 2147483647; choose smaller sizes" in found.message


COMPUTED = {
    "joined": """tensor<int32, [1]> a = const()[val = tensor<int32, [1]>([1])];
        tensor<int32, [1]> b = const()[val = tensor<int32, [1]>([64])];
        tensor<int32, [2]> s = concat(axis = int32(0), interleave = bool(false), values = (a, b));""",
    "of another name": """tensor<int32, [2]> a = const()[val = tensor<int32, [2]>([1, 64])];
        tensor<int32, [2]> s = identity(x = a);""",
    "of literals": "tensor<int32, [2]> s = identity(x = tensor<int32, [2]>([1, 64]));",
}


@pytest.mark.parametrize("lines", COMPUTED.values(), ids=COMPUTED)
def test_a_shape_computed_of_constants_becomes_a_literal(lines: str) -> None:
    """The operation that computed it is no `const`, so its text stays."""
    text = program(16, f"{lines}\ntensor<fp32, [1, 64]> y = reshape(shape = s, x = x);")
    made, told = reshaped(text, "1,4,24")
    assert "tensor<fp32, [1, 96]> y = reshape(shape = tensor<int32, [2]>([1, 96]), x = x);" in made
    assert lines in made
    assert told == []
