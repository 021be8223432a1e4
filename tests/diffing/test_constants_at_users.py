"""A constant that changed is told where it is used, be it a `const` or a literal."""

from __future__ import annotations

import pytest

import miltext
from miltext.schema.proto import Program

AXIS = "int32 axis = const()[val = int32({})]"


def program(*operations: str, given: str = "y") -> Program:
    lines = "".join(f"            {each};\n" for each in operations)
    return miltext.parse(
        f"program(1.3)\n{{\n    func main<ios18>(tensor<fp16, [2, 2]> x) {{\n{lines}        }} -> ({given});\n}}\n"
    )


def softmax(name: str, axis: str = "axis", x: str = "x") -> str:
    return f"tensor<fp16, [2, 2]> {name} = softmax(axis = {axis}, x = {x})"


def told(old: Program, new: Program) -> list[str]:
    """The lines below those of the function."""
    difference = miltext.diff(old, new)
    back = miltext.diff(new, old)
    assert difference.same is back.same
    lines = difference.to_text().splitlines()
    return [line.removeprefix("    ") for line in lines[lines.index("func main") + 1 :]]


def test_a_change_is_at_the_operation_that_uses_the_constant() -> None:
    old, new = [program(AXIS.format(axis), softmax("y")) for axis in (0, 1)]
    assert told(old, new) == ["~ y: softmax", "    axis: 0 -> 1"]


@pytest.mark.parametrize("inline", [0, 1])
def test_a_literal_and_a_const_of_it_are_the_same(inline: int) -> None:
    sides = [program(AXIS.format(1), softmax("y")), program(softmax("y", "int32(1)"))]
    difference = miltext.diff(sides[inline], sides[not inline])
    assert difference.same is True
    for text in (difference.to_text(), difference.to_stat()):
        assert text == "no difference\n"
    assert difference.to_unified() == ""
    assert "no difference" in difference.to_markdown().lower()
    assert difference.to_json()["functions"] == []


@pytest.mark.parametrize("inline", [0, 1])
def test_a_literal_and_a_const_of_another_value(inline: int) -> None:
    sides = [program(AXIS.format(1), softmax("y")), program(softmax("y", "int32(0)"))]
    change = "1 -> 0" if inline == 0 else "0 -> 1"
    assert told(sides[inline], sides[not inline]) == ["~ y: softmax", f"    axis: {change}"]


def test_a_literal_and_a_const_that_others_use() -> None:
    old = program(AXIS.format(1), softmax("a"), softmax("y", x="a"))
    new = program(AXIS.format(1), softmax("a"), softmax("y", "int32(0)", x="a"))
    assert told(old, new) == ["~ y: softmax", "    axis: 1 -> 0"]
    assert told(new, old) == ["~ y: softmax", "    axis: 0 -> 1"]


def test_a_literal_in_a_list() -> None:
    """An argument that takes several values: each is compared with the one in its place."""

    def joined(last: str, *consts: str) -> Program:
        return program(
            *consts, f"tensor<fp16, [2]> y = concat(axis = int32(0), interleave = bool(false), values = (x, {last}))"
        )

    const = "tensor<fp16, [1]> c = const()[val = tensor<fp16, [1]>([1])]"
    inline = "tensor<fp16, [1]>([{}])"
    for sides in ((joined("c", const), joined(inline.format(1))), (joined(inline.format(1)), joined("c", const))):
        assert miltext.diff(*sides).same is True
    assert told(joined("c", const), joined(inline.format(2))) == [
        "~ y: concat",
        "    values: (x, tensor<fp16, [1]>([1.0])) -> (x, tensor<fp16, [1]>([2.0]))",
    ]


@pytest.mark.parametrize(
    ("count", "also"),
    [
        (1, ""),
        (2, ", also axis of v1"),
        (4, ", also axis of v1, axis of v2, axis of v3"),
        (7, ", also axis of v1, axis of v2, axis of v3 and 3 more"),
    ],
)
def test_a_change_is_at_the_first_of_several_users(count: int, also: str) -> None:
    def chain(axis: int) -> Program:
        steps = [softmax(f"v{index}", x=f"v{index - 1}" if index else "x") for index in range(count)]
        return program(AXIS.format(axis), *steps, given=f"v{count - 1}")

    assert told(chain(0), chain(1)) == ["~ v0: softmax", f"    axis: 0 -> 1{also}"]
    (change,) = miltext.diff(chain(0), chain(1)).functions[0].blocks[0].changed[0].changes
    assert change.also == tuple((f"v{index}", "axis") for index in range(1, count))


def test_an_operation_that_takes_it_twice() -> None:
    old, new = [
        program(f"fp16 c = const()[val = fp16({number})]", "fp16 y = add(x = c, y = c)") for number in ("1", "2")
    ]
    assert told(old, new) == ["~ y: add", "    x: 1.0 -> 2.0, also y of y"]


def test_together_with_other_differences_of_the_operation() -> None:
    old = program(AXIS.format(0), softmax("a", "int32(0)"), softmax("y", x="a"))
    new = program(AXIS.format(1), softmax("a", "int32(0)"), softmax("y", x="x"), given="y")
    assert "    axis: 0 -> 1" in told(old, new)
    assert told(old, new)[-1] == "    x: a -> x"


def test_a_constant_without_a_common_user_is_separate() -> None:
    given = [program(AXIS.format(axis), softmax("y", "int32(0)"), given="y, axis") for axis in (0, 1)]
    assert told(*given) == ["~ axis: const", "    val: 0 -> 1"]
    unused = [program(AXIS.format(axis), softmax("y", "int32(0)")) for axis in (0, 1)]
    assert told(*unused) == ["~ axis: const", "    val: 0 -> 1"]


def test_a_returned_constant_is_separate() -> None:
    old, new = [program(AXIS.format(axis), softmax("y"), given="y, axis") for axis in (0, 1)]
    assert told(old, new) == ["~ axis: const, axis of y", "    val: 0 -> 1"]


def test_a_constant_used_in_an_inner_block_is_separate() -> None:
    def branch(number: int) -> Program:
        return program(
            f"int32 k = const()[val = int32({number})]",
            "bool is_less = less(x = k, y = int32(4))",
            "int32 y = cond(pred = is_less) () { } -> (k) () { int32 z = add(x = k, y = k); } -> (z)",
        )

    assert told(branch(1), branch(2)) == ["~ k: const, x of is_less", "    val: 1 -> 2"]


def test_a_new_operation_is_reported_itself() -> None:
    old = program(AXIS.format(0), softmax("y", "int32(0)"))
    new = program(AXIS.format(1), softmax("a"), softmax("y", "int32(0)", x="a"))
    lines = told(old, new)
    assert lines[0] == "~ axis: const, axis of a"
    assert lines[1] == "    val: 0 -> 1"


def test_another_type_and_another_length() -> None:
    def with_shape(shape: str, kind: str) -> Program:
        return program(
            f"{kind} s = const()[val = {kind}({shape})]", "tensor<fp16, [2, 2]> y = reshape(shape = s, x = x)"
        )

    old = with_shape("[2, 2]", "tensor<int32, [2]>")
    assert told(old, with_shape("[4]", "tensor<int32, [1]>")) == [
        "~ y: reshape",
        "    shape: tensor<int32, [2]>([2, 2]) -> tensor<int32, [1]>([4])",
    ]
    assert told(old, with_shape("[2, 2]", "tensor<int16, [2]>")) == [
        "~ y: reshape",
        "    shape: tensor<int32, [2]>([2, 2]) -> tensor<int16, [2]>([2, 2])",
    ]


def test_a_long_literal_with_its_distance() -> None:
    def with_numbers(last: str, inline: bool) -> Program:
        numbers = ", ".join(["1"] * 19 + [last])
        literal = f"tensor<fp16, [20]>([{numbers}])"
        const = [] if inline else [f"tensor<fp16, [20]> w = const()[val = {literal}]"]
        return program(*const, f"tensor<fp16, [20]> y = relu(x = {literal if inline else 'w'})")

    assert miltext.diff(with_numbers("1", True), with_numbers("1", False)).same is True
    for sides in ((True, False), (False, True)):
        difference = miltext.diff(with_numbers("1", sides[0]), with_numbers("3", sides[1]))
        (change,) = difference.weights.changed
        assert change.measure is not None
        assert (change.operation, change.parameter, change.measure.changed) == ("y", "x", 1)


def test_constants_outside_of_a_block_used_inside() -> None:
    def loop(limit: int) -> Program:
        return program(
            f"int32 limit = const()[val = int32({limit})]",
            "int32 zero = const()[val = int32(0)]",
            """int32 n = while_loop(loop_vars = (zero))
                (int32 j) {
                    bool less = less(x = j, y = limit);
                } -> (less)
                (int32 k) {
                    int32 next = add(x = k, y = limit);
                } -> (next)""",
            given="n",
        )

    assert told(loop(8), loop(9)) == ["~ limit: const", "    val: 8 -> 9"]


def test_weights_that_no_operation_has_are_compared() -> None:
    old, new = Program(), Program()
    for program, offset in ((old, 64), (new, 128)):
        program.attributes["table"].blobFileValue.offset = offset
        program.functions["main"].attributes["table"].blobFileValue.offset = offset
    difference = miltext.diff(old, new, ignore_weights=True)
    assert difference.same is False
    assert [each.function for each in difference.weights.changed] == ["", "main"]


TWICE = "fp16 {} = const()[val = fp16(2)]"
SUM, PRODUCT = "tensor<fp16, [2, 2]> a = add(x = x, y = {})", "tensor<fp16, [2, 2]> y = mul(x = a, y = {})"


@pytest.mark.parametrize(
    "sides",
    [
        ("two", "one"),
        ("one", "two"),
        ("two", "literals"),
        ("literals", "two"),
        ("one", "literals"),
        ("literals", "one"),
    ],
)
def test_equal_constants_are_equal_shared_or_not(sides: tuple[str, str]) -> None:
    forms = {
        "two": program(TWICE.format("c"), TWICE.format("d"), SUM.format("c"), PRODUCT.format("d")),
        "one": program(TWICE.format("c"), SUM.format("c"), PRODUCT.format("c")),
        "literals": program(SUM.format("fp16(2)"), PRODUCT.format("fp16(2)")),
    }
    assert miltext.diff(forms[sides[0]], forms[sides[1]]).same is True


LONG = "tensor<fp16, [2, 2, 8]>"


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("last", "are_same"), [("1", True), ("2", False)])
def test_a_weight_that_is_shared_has_the_same_numbers(last: str, are_same: bool, order: int) -> None:
    def numbers(end: str) -> str:
        rows = [["1"] * 8 for _ in range(4)]
        rows[3][7] = end
        texts = [f"[{', '.join(row)}]" for row in rows]
        return f"{LONG}([[{texts[0]}, {texts[1]}], [{texts[2]}, {texts[3]}]])"

    ends = (f"{LONG} a = add(x = x, y = c)", f"{LONG} y = mul(x = a, y = {{}})")
    constants = [f"{LONG} {name} = const()[val = {numbers(end)}]" for name, end in (("c", "1"), ("d", last))]
    two, one = program(*constants, ends[0], ends[1].format("d")), program(constants[0], ends[0], ends[1].format("c"))
    difference = miltext.diff(*(two, one)[::order])
    assert difference.summary.outputs.reached == (() if are_same else ("y",))
    assert difference.same is are_same
    assert are_same or miltext.apply(difference, (two, one)[::order][0]) == (two, one)[::order][1]
