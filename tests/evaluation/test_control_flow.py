"""Control flow and states: blocks that run, and what is carried from one call to the next."""

from __future__ import annotations

import numpy as np
import pytest
from support.evaluation import computed

LOOP = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x) {
            fp32 limit = const()[val = fp32(100)];
            tensor<fp32, [2]> y = while_loop(loop_vars = (x))
                (tensor<fp32, [2]> a) {
                    fp32 most = reduce_max(x = a);
                    bool more = less(x = most, y = limit);
                } -> (more)
                (tensor<fp32, [2]> b) {
                    tensor<fp32, [2]> twice = add(x = b, y = b);
                } -> (twice);
        } -> (y);
}
"""


@pytest.mark.parametrize(("given", "expected"), [([1, 3], [64, 192]), ([100, 0], [100, 0]), ([50, 49], [100, 98])])
def test_a_loop_ends_when_its_condition_is_false(given: list[float], expected: list[float]) -> None:
    assert computed(LOOP, {"x": np.array(given, np.float32)})["y"].tolist() == expected
