"""A text as items: each comment is in the item of the phrase that it belongs to."""

from __future__ import annotations

import pytest

from miltext.merging.sides import Side


@pytest.mark.parametrize(
    ("block", "items"),
    [
        ("fp16 a = f(); /* a */ fp16 b = f(); // b\n", ["fp16 a = f(); /* a */", " fp16 b = f(); // b"]),
        (
            "fp16 a = f(); /* a\n a */\n // b\n fp16 b = f();\n",
            ["fp16 a = f(); /* a\n a */", "\n // b\n fp16 b = f();"],
        ),
        ("/* a */ fp16 a = f(); fp16 b = f(); /* b */ ", ["/* a */ fp16 a = f();", " fp16 b = f(); /* b */"]),
        (" // block\n// a\nfp16 a = f(); \n// end\n", ["\n// a\nfp16 a = f(); "]),
        ("", []),
    ],
)
def test_a_comment_is_in_the_item_that_it_belongs_to(block: str, items: list[str]) -> None:
    side = Side(f"program(1.3) {{ func main<ios18>() {{{block}}} -> (); }}")
    [function] = side.program.holes[0].items
    assert [side.text[item.start : item.end] for item in function.holes[0].items] == items
