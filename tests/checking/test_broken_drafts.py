"""Drafts that only a random edit makes: each is refused with places, and never by a traceback."""

from __future__ import annotations

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


def test_a_number_of_elements_with_thousands_of_digits() -> None:
    found = miltext.check(HUGE)
    assert "error" in {each.severity for each in found}
    assert all(each.code != "MIL900" for each in found)
