"""The merge of one statement, or of the head of a function, phrase by phrase.

The changes of one side are written into the text of the other, which keeps its layout.
"""

from __future__ import annotations

from typing import TypeAlias

from miltext.merging.forms import AmbiguousKeys, ItemForm, PhraseList, PhraseTokens, contents, is_unordered, words_of
from miltext.merging.ordering import merged_order, replaced_twice
from miltext.merging.plans import OURS, THEIRS, MergeDecision, Replacement, Taken, chosen
from miltext.schema.stamps import BUILD_INFO
from miltext.syntax.parser import SyntaxFailure

Forms: TypeAlias = "tuple[ItemForm | None, ItemForm, ItemForm]"
"""An item in the base, in ours and in theirs."""

Segment: TypeAlias = "tuple[int | None, tuple[Replacement, ...]]"
"""The side whose segment is taken, None for a conflict; and the replacements in it."""


def merge_forms(base: ItemForm | None, ours: ItemForm, theirs: ItemForm) -> list[MergeDecision]:
    """Return the decisions about the segments of an item, each with the comments around it."""
    segments = _merge_cores(base, ours, theirs)
    for place in (0, -1):
        segments[place] = _with_comments(segments[place], (base, ours, theirs), place)
    spans = zip(base.segments if base else [None] * len(segments), ours.segments, theirs.segments, strict=True)
    return [MergeDecision(side, at, replaced) for (side, replaced), at in zip(segments, spans, strict=True)]


def _with_comments(segment: Segment, forms: Forms, place: int) -> Segment:
    """Return a segment with the decision about the comments before the item, or after it."""
    texts = [form.text(form.around[place]) if form else None for form in forms]
    (own, replaced), side = segment, chosen([_comments_alone(text) for text in texts], texts)
    canvas, giver = forms[own or OURS], forms[side or OURS]
    if own is None or side is None or texts[own] == texts[side] or not canvas or not giver:
        return None if side is None else own, replaced
    return own, (*replaced, Replacement(canvas.around[place], (Taken(side, giver.around[place]),)))


def _comments_alone(text: str | None) -> object:
    return None if text is None else [line.strip() for line in text.split("\n") if line.strip()]


def _merge_cores(base: ItemForm | None, ours: ItemForm, theirs: ItemForm) -> list[Segment]:
    """Return the decisions about the segments without the comments around the item."""
    count = len(ours.segments)
    if side := chosen([form and form.core for form in (base, ours, theirs)]):
        return _whole(side, count)
    if base is None:
        return _whole(OURS, count) if ours.normal == theirs.normal else _each_alone(ours, theirs)
    if theirs.normal in (ours.normal, base.normal):
        return _whole(OURS, count)
    try:
        return _by_phrase(base, ours, theirs)
    except (SyntaxFailure, AmbiguousKeys):
        return _whole(chosen((base.normal, ours.normal, theirs.normal)), count)


def _whole(side: int | None, count: int) -> list[Segment]:
    """Return the decision to take all segments of a side, or none."""
    return [(side, ())] * count


def _each_alone(ours: ItemForm, theirs: ItemForm) -> list[Segment]:
    """Return the decision to take the segments that both sides added equally."""
    both = [[words_of(form.text(span)) for span in form.own_segments] for form in (ours, theirs)]
    return [(OURS if mine == other else None, ()) for mine, other in zip(*both, strict=True)]


def _by_phrase(base: ItemForm, ours: ItemForm, theirs: ItemForm) -> list[Segment]:
    """Write theirs' changes into ours, or ours' into theirs if only theirs changed comments.

    Raise SyntaxFailure and AmbiguousKeys.
    """
    forms, side, count = (base, ours, theirs), OURS, len(ours.segments)
    if theirs.comments != base.comments:
        if ours.comments != base.comments and ours.comments != theirs.comments:
            return _whole(None, count)
        side = THEIRS
    canvas, giver = forms[side], forms[OURS + THEIRS - side]
    merge = _PhraseMerge(base, canvas, giver, side)
    broken = {canvas.segment_at(offset) for offset in merge.broken}
    if broken and canvas.normal == base.normal and giver.comments == base.comments:
        return _whole(OURS + THEIRS - side, count)  # only the layout of the canvas was another
    replaced: list[list[Replacement]] = [[] for _ in range(count)]
    for each in merge.made:
        replaced[canvas.segment_at(each.span.start)].append(each)
    return [(None if at in broken else side, tuple(made)) for at, made in enumerate(replaced)]


class _PhraseMerge:
    """The replacements `made` to write the changes of one side (the giver) into the other (the canvas), and the places
    `broken` by changes on both.
    """

    def __init__(self, base: ItemForm, canvas: ItemForm, giver: ItemForm, side: int) -> None:
        self._base, self._canvas, self._giver = base, canvas, giver
        self._side, self._other = side, OURS + THEIRS - side
        self.made: list[Replacement] = []
        self.broken: list[int] = []
        if self._is_another_operation():
            self.broken.append(canvas.root.start)
        for key in self._keys("words"):
            self._phrase(*(form.words[key] for form in (base, canvas, giver)))
        for key in self._keys("lists"):
            self._list(key)

    def _keys(self, kind: str) -> list[str]:
        """Return the keys of the words or lists, which are the same in all versions. Raise AmbiguousKeys."""
        found = [list(getattr(form, kind)) for form in (self._base, self._canvas, self._giver)]
        if found[0] != found[1] or found[0] != found[2]:
            raise AmbiguousKeys
        return found[0]

    def _is_another_operation(self) -> bool:
        """Return whether a side replaced the operation, and the other side changed the operands."""
        if self._base.kind != "operation":
            return False
        types = [form.words["name"].normal for form in (self._canvas, self._giver)]
        one, other = (self._changes(form) for form in (self._canvas, self._giver))
        return types[0] != types[1] and bool(
            ("name" in one and other - {"name"}) or ("name" in other and one - {"name"})
        )

    def _changes(self, form: ItemForm) -> set[str]:
        """Return the words and lists that a side changed; among the attributes, only the value of a constant."""
        words = {key for key in form.words if form.words[key].normal != self._base.words[key].normal}
        lists = self._base.lists
        return words | {key for key, listed in form.lists.items() if _taken(listed, key) != _taken(lists[key], key)}

    def _phrase(self, before: PhraseTokens | None, mine: PhraseTokens, other: PhraseTokens) -> None:
        """Write a phrase that only the giver changed."""
        side = _chosen(before, mine, other)
        is_losing = side != OURS and self._canvas.comments_in(mine.span) != self._giver.comments_in(other.span)
        if side is None or is_losing:
            self.broken.append(mine.span.start)
        elif side == THEIRS:
            self.made.append(Replacement(mine.span, (Taken(self._other, other.span),)))

    def _list(self, key: str) -> None:
        """Write the giver's changes of a list: phrase by phrase, or the whole list if the keys differ."""
        before, mine, other = (form.lists[key] for form in (self._base, self._canvas, self._giver))
        if [*mine.items] != [*other.items]:
            self._rewrite(key, before, mine, other)
            return
        for name, part in mine.items.items():
            versions = before.items.get(name), part, other.items[name]
            is_stamp = self._base.kind == "program" and name == BUILD_INFO  # the tools and the date
            if not is_stamp or _chosen(*versions):  # else both changed it, and ours is kept
                self._phrase(*versions)

    def _rewrite(self, key: str, before: PhraseList, mine: PhraseList, other: PhraseList) -> None:
        """Write a whole list, unless the giver did not change it."""
        if contents(other, key) == contents(before, key):
            return
        place = mine.span.start
        if self._canvas.comments_in(mine.span):
            self.broken.append(place)
            return
        versions = before.items, mine.items, other.items
        if not is_unordered(key) and replaced_twice(*versions):
            self.broken.append(place)
        order = merged_order(*map(list, versions))
        found = [self._kept(place, *(each.items.get(name) for each in (before, mine, other))) for name in order]
        self.made.append(mine.of(taken for taken in found if taken is not None))

    def _kept(
        self, place: int, before: PhraseTokens | None, mine: PhraseTokens | None, other: PhraseTokens | None
    ) -> Taken | None:
        """Return an item of a merged list; None if one side removed it and the other did not change it."""
        side = _chosen(before, mine, other)
        if side == THEIRS:
            return other and Taken(self._other, other.span)
        if side is None:
            self.broken.append(place)
        return mine and Taken(self._side, mine.span)


def _chosen(*parts: PhraseTokens | None) -> int | None:
    """Return the side with a change of a phrase, as if the canvas was ours, and the giver theirs."""
    return chosen([part and part.normal for part in parts])


def _taken(listed: PhraseList, key: str) -> object:
    """Return the contents of a list that belong to an operation's operands."""
    if key == "attributes":
        return listed.items["val"].normal if "val" in listed.items else None
    return None if key == "results" else contents(listed, key)
