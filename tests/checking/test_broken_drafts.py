"""Drafts that only a random edit makes: each is refused with places, and never by a traceback."""

from __future__ import annotations

import pytest
from support.laws.checking import build_agrees, check_never_raises

import miltext

TWICE = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 8]> x) {
            tensor<fp16, [1, 8]> t = relu(x = x)[name = string("t")];
            tensor<fp16, [8]> w = const()[name = string("w"), val = tensor<fp16, [8]>([1, 2, 3, 4, 5, 6, 7, 8])];
            tensor<fp16, [1, 8]> y = add(x = t, y = w)[name = string("y")];
        } -> (y);
{
    func main<ios18>(tensor<fp16, [1, 3, 16, 16]> image) {
            edges = conv(image, $npy("conv_w.npy"), bias = $npy("conv_b.npy"), strides = [2, 2], pad_type = "custom");
            y = reduce_mean(relu(edges), [2, 3]);
        } -> (y);
}
"""

HUGE = f"""program(1.3)
{{
    func main<ios18>(tensor<fp16, [{", ".join(["4294967296"] * 450)}]> x) {{
            tensor<fp16, [3]> y = reshape(x = x, shape = [-1])[name = string("y")];
        }} -> (y);
}}
"""


def test_an_array_in_a_function_defined_twice() -> None:
    assert "error" in {each.severity for each in miltext.check(TWICE)}


BODIES = {
    "types": "tensor<fp16, [2]> y = relu(x = x);",
    "a wrong type": "tensor<fp16, [3]> y = relu(x = x);",
    "a short draft": "y = relu(relu(x));",
    "a long draft": "_ y = relu(x = x);",
    "a literal": "y = add(x = x, y = 1);",
    "a list": "y = add(x, [1, 2, 3]);",
    "an array": '_ w = const()[val = $npy("w.npy")]; y = add(x, w);',
    "an array as argument": 'y = add(x, $npy("w.npy"));',
    "a wrong parameter": "y = relu(z = x);",
    "a name without a value": "y = relu(nope);",
    "blocks": "y = cond(p) () { a = relu(x); } -> (a) () { b = add(x, [1, 2]); } -> (b);",
}
"""Bodies of a function, by their contents."""

DUPLICATE = "MIL103"


def function(body: str, inputs: str) -> str:
    return f"func main<ios18>({inputs}) {{ {body} }} -> (y);\n"


@pytest.mark.parametrize("inputs", ["tensor<fp16, [2]> x, bool p", "x, p"])
@pytest.mark.parametrize("second", BODIES)
@pytest.mark.parametrize("first", BODIES)
def test_a_second_definition_adds_one_finding(first: str, second: str, inputs: str) -> None:
    """A Program has the first one: gaps and places of the other were mixed with those."""
    before = f"program(1.3) {{\n{function(BODIES[first], inputs)}"
    once, twice = f"{before}}}", f"{before}{function(BODIES[second], 'tensor<int32, [5]> x, bool p')}}}"
    known, found = problems(once), problems(twice)
    assert [each for each in known if each not in found] == []
    assert [each.code for each in found if each not in known] == [DUPLICATE]


@pytest.mark.parametrize("inputs", ["tensor<fp16, [2]> x, bool p", "x, p"])
@pytest.mark.parametrize("second", BODIES)
@pytest.mark.parametrize("first", BODIES)
def test_a_second_block_of_an_opset_adds_one_finding(first: str, second: str, inputs: str) -> None:
    once = f"program(1.3) {{\n{function(BODIES[first], inputs)}}}"
    twice = once.replace("-> (y);\n}", f"-> (y)\n$block<ios18> {{ {BODIES[second]} }} -> (y);\n}}")
    known, found = problems(once), problems(twice)
    assert [each for each in known if each not in found] == []
    assert [each.code for each in found if each not in known] == [DUPLICATE]


@pytest.mark.parametrize("second", BODIES)
def test_a_function_defined_twice_is_refused_by_all_verbs(second: str) -> None:
    first = function(BODIES["a literal"], "tensor<fp16, [2]> x, bool p")
    text = f"program(1.3) {{\n{first}{function(BODIES[second], 'tensor<int32, [5]> x, bool p')}}}"
    check_never_raises(text)
    build_agrees(text)


def problems(text: str) -> list[miltext.Diagnostic]:
    """Return the findings of a check that are no notes: a note may count the omissions of a whole text."""
    return [each for each in miltext.check(text) if each.severity != "note"]


def test_a_number_of_elements_with_thousands_of_digits() -> None:
    found = miltext.check(HUGE)
    assert "error" in {each.severity for each in found}
    assert all(each.code != "MIL900" for each in found)
