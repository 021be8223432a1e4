"""Make docs/cost.md, what `miltext cost` counts, from the tables of formulas; `--check` fails if it is stale."""

from __future__ import annotations

from pathlib import Path

from generated import settle

from miltext.costing.formulas import COREMLTOOLS, FORMULAS, NOT_COUNTED, PICKS, TORCH, VIEWS
from miltext.diagnostics.wording import listed

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cost.md"

HEAD = """\
# Cost

`miltext cost` computes what a model costs to run, from its program alone: no device is needed, and no weight file. This
page lists the counted work. [What does it cost?](how-to/what-it-costs.md) shows the verb on a model.

```sh
miltext cost Model.mlpackage
miltext cost Model.mlpackage --shape image=1,3,256,256    # for inputs of other sizes
miltext cost Model.mlpackage --against Old.mlpackage      # what costs more
```

In Python, `miltext.cost` returns the same numbers.

## Sizes

The costs are those of one run with inputs of fixed sizes: of the sizes that the program states, of those that `--shape`
gives, and otherwise of the defaults of the description. An input with open sizes and without a default is an error
([MIL435](diagnostics.md#mil435)). Types follow from the sizes
[as in `miltext reshape`](how-to/resize-an-image-input.md), so that sizes that the program does not fit are errors.
Sizes that the description does not allow are noted.

A size that does not follow from the inputs, such as that of `non_zero`, counts as 0, and is noted. For a `cond`, only
the block with more multiply-accumulates counts, or with more bytes. For a `while_loop`, one turn counts.

## Multiply-accumulates

A multiply-accumulate (mac) is one product that is added to a sum: two FLOPs. Only the operations of this table have
some. A bias, an activation, a mask and peepholes add nothing. Products with padding count, and no algorithm that needs
fewer products, such as Winograd's, is assumed.

| operation | multiply-accumulates | defined in | counted in torch, twice, by |
|---|---|---|---|
"""

BYTES = """
The files are those of coremltools, and the functions those of [torch.utils.flop_counter]({torch}). The tests compare
converted networks with torch's counter.

Not counted as macs, although it takes time:

{not_counted}

## Bytes

An operation reads each of its arguments once, and writes its outputs. A weight counts with its bytes as stored, such as
those of a palette and its indices, each time that an operation reads it: the definition of a weight is [as in `miltext
size`](how-to/find-what-made-it-larger.md). Caches of a device are not modelled.

- **Views** move no bytes, and take no memory: their outputs are an argument in another shape.
  {views} make views.
- **Parts.** An operation that picks elements reads only those that it returns, not a whole table or tensor:
  {picks}.
- **States.** `read_state` is a view of the state. `write_state` reads its data, and writes the state.
- Strings and dictionaries count as 0 bytes.

## Memory

The peak is the most memory that values take at a time, in the order of the program. A value lives from its operation to
the last one that uses it, an input from the beginning, an output to the end, and a view keeps its source alive. Weights
and states are not values; states are listed apart. While a `cond` runs, the block that needs the most memory counts.
While a `while_loop` runs, its test or its body counts, whose variables are the arguments of the loop.

A runtime may need less, if it works in place, in another order, or with other types; or more, for scratch memory and
alignment.
"""


def page() -> str:
    """Return the page of the documentation."""
    rows = [
        f"| `{name}` | {each.words} | [{each.defined}]({COREMLTOOLS}/{each.defined}) | {each.counter} |\n"
        for name, each in FORMULAS.items()
    ]
    rest = BYTES.format(
        torch=TORCH,
        not_counted="\n".join(f"- {each}" for each in NOT_COUNTED),
        views=listed(sorted(set(VIEWS) - {"read_state"}), "and"),
        picks=listed(sorted(PICKS), "and"),
    )
    return "".join([HEAD, *rows, rest])


def main() -> None:
    """Write the page, or compare it with the file."""
    settle(__doc__, [(PAGE, page())])


if __name__ == "__main__":
    main()
