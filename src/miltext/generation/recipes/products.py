"""Recipes for products of matrices, and for attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.generation.recipes.table import recipe

if TYPE_CHECKING:
    from miltext.generation.calls import Call


@recipe("linear")
def linear(call: Call) -> None:
    """Generate a tensor, and the number of the weight's outputs."""
    call.tensor("x")
    call.sizes["o"] = call.steps_of_weight(call.size("i"))


@recipe("matmul")
def matmul(call: Call) -> None:
    """Generate two tensors of matrices, transposed or not."""
    call.ranked("x", 2)
    *batch, rows, inner = call.shape("x")
    transposed = [call.choices.rarely(), call.choices.rarely()]
    inner = rows if transposed[0] else inner
    columns = call.choices.integer(1, 4)
    matrix = (columns, inner) if transposed[1] else (inner, columns)
    call.of_shape("y", (*(batch if call.choices.flag() else []), *matrix), call.type("x").dtype)
    for name, is_so in zip(("transpose_x", "transpose_y"), transposed, strict=True):
        if is_so:
            call.number(name, True)
        call.leave_out(name)


@recipe("scaled_dot_product_attention")
def attention(call: Call) -> None:
    """Generate a mask of the lengths of queries and keys, or none."""
    call.ranked("query", 3)
    call.tensor("key")
    call.tensor("value")
    if call.choices.flag():
        call.of_shape("attn_mask", (call.size("l"), call.size("s")))
    call.leave_out("attn_mask")
