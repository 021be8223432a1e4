"""Texts in which packaged rules of `rewrite` have sites."""

DECOMPOSED_SOFTMAX = """\
program(1.3)
{
    func main<ios17>(tensor<fp16, [2, 4]> x) {
            e = exp(sub(x, reduce_max(x, [-1], keep_dims = true)));
            p = real_div(e, reduce_sum(e, [-1], keep_dims = true));
            y = relu(cast(cast(p, "fp32"), "fp16"));
        } -> (y);
}
"""
"""A draft with a site of `softmax`, and one of `cast_pair`."""
