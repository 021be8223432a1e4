"""Drafts in the short spelling: values without types, arguments by their place, operations inside others."""

from __future__ import annotations

FEED_FORWARD = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 8, 1, 4]> x, tensor<fp16, [6, 8, 1, 1]> up, tensor<fp16, [8, 6, 1, 1]> down) {
            // the norm
            square = square(x);
            mean = reduce_mean(square, [1], keep_dims = true)[name = "mean"];
            normed = mul(mul(x, rsqrt(mean, epsilon = 1e-3)), 0.5);  // scaled
            gate = mul(silu(conv(normed, up)), conv(x = normed, weight = /* again */ up));
            first, second = split(concat((gate, relu(gate)), axis = 1), axis = 1, num_splits = 2);
            out = add(x, conv(
                mul(first, second),  // both
                down
            ));
        } -> (out);
}
"""
"""The value `square` is called as an operation; `gate` is used in a list of values."""

WITH_BLOCKS = """\
program(1.3)
{
    func main<ios18>(bool p, tensor<fp16, [2]> x, tensor<fp16, [2]> y) {
            z = cond(p)
                () {
                    a = add(relu(x), mul(x = y, y = tanh(x)));
                } -> (a)
                () {
                    a = sub(x, y);
                } -> (a);
            last = mul(z, sigmoid(z));
        } -> (last);
    func other<ios16>(tensor<fp16, [2]> x) {
            _ y = relu(x);
        } -> (y);
}
"""

WITH_CONSTANTS = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 4]> x, state<tensor<fp16, [2, 4]>> cache) {
            half = const()[name = "half", val = 0.5];
            _ along = const()[val = [1]];
            a, _ b = split(tanh(x)[name = "t"], axis = 1, num_splits = 2);
            total = reduce_sum(mul(const()[val = -0x1p-1], mul(x, half)), along, true);
            y, n = while_loop((mul(x, total), 0))
                (_ c, d) {
                    e = less(d, 3);
                } -> (e)
                (f, g) {
                    h = tanh(f);
                    i = add(1, g);
                } -> (h, i);
            write_state(cache, relu(y));
            z = concat((a, b, [[0.5], [1]]), -1)[name = "z", note = "kept"];
            last = mul(read_state(input = cache), cast(n, "fp16"));
        } -> (z, last);
}
"""
"""Constants without a type, inputs of blocks without one, and literals of each kind."""

DRAFTS = {"feed_forward": FEED_FORWARD, "with_blocks": WITH_BLOCKS, "with_constants": WITH_CONSTANTS}

BROKEN = {
    "open call": FEED_FORWARD.replace("rsqrt(mean, epsilon = 1e-3)), 0.5);", "rsqrt(mean, "),
    "open list": FEED_FORWARD.replace("(gate, relu(gate)), axis", "(gate, relu(gate), axis"),
    "no argument": FEED_FORWARD.replace("conv(normed, up)", "conv(, up)"),
    "too many": FEED_FORWARD.replace("silu(conv", "silu(x, x, conv"),
    "after a named one": FEED_FORWARD.replace("weight = /* again */ up", "weight = up, x"),
    "unknown": FEED_FORWARD.replace("silu(conv", "sillu(conv").replace("(first, second)", "(frist, second)"),
    "two values": FEED_FORWARD.replace("conv(normed, up)", "split(normed, up)"),
    "cut": FEED_FORWARD[: FEED_FORWARD.index("gate, relu")],
    "cut in a name": WITH_BLOCKS[: WITH_BLOCKS.index("nh(x)")],
    "no outputs": WITH_BLOCKS.replace("z = cond", "= cond").replace("last = mul", ", last = mul"),
}
"""What is wrong, in words, and a text with it."""
