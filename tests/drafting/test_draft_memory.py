"""The parts of a draft that are let go: what is no longer needed takes many times the memory of the text."""

from __future__ import annotations

import gc

from miltext.checking.drafts import draft_types
from miltext.drafting.draft import Draft
from miltext.ir.parts import Op
from miltext.parsing.recovery import Recovered, recover
from miltext.syntax.gc_pause import gc_paused

TEXT = """program(1.3) $draft(names) {
  func main<ios18>(tensor<fp16, [8]> x, bool c) {
    y = cond(c) () { a = relu(relu(x)); } -> (a) () { b = mul(x, 2.0); } -> (b);
  } -> (y);
}
"""


def alive(kind: type) -> int:
    """Return the number of objects of a type that are in memory, also of those that only name each other."""
    return sum(type(each) is kind for each in gc.get_objects())


def test_the_graph_of_a_draft_is_freed_during_a_pause() -> None:
    """The parts of a graph name each other, so that the next graph was made beside it."""
    gc.collect()
    before = alive(Op)
    with gc_paused:
        types = draft_types(recover(TEXT))
        assert alive(Op) == before
    assert not types.open


def test_a_completed_draft_keeps_texts_alone() -> None:
    """Its Program and its tree were there while the whole text was checked and laid out."""
    gc.collect()
    before = alive(Recovered)
    draft = Draft(TEXT)
    assert draft.diagnostics == []
    assert alive(Recovered) == before
    assert draft.whole is not None
    assert "$draft" not in draft.whole
    assert alive(Recovered) == before
