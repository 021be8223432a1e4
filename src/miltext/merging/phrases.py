"""The merge of one statement, or of the head of a function, phrase by phrase.

The changes of one side are written into the text of the other, which keeps its layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from miltext.diagnostics import Span
from miltext.merging.forms import AmbiguousKeys, ItemForm, PhraseList, PhraseTokens, words_of
from miltext.merging.ordering import merged_order, replaced_twice
from miltext.schema.stamps import BUILD_INFO
from miltext.syntax.editing import apart
from miltext.syntax.parser import SyntaxFailure

T = TypeVar("T")

Edit = tuple[Span, str]


def merge_forms(base: ItemForm | None, ours: ItemForm, theirs: ItemForm) -> list[str | None]:
    """Return the segments of a merged item, each with the comments around it; None for a segment in conflict."""
    segments = _merge_cores(base, ours, theirs)
    for place, kind in ((0, "lead"), (-1, "trail")):
        texts = [getattr(form, kind) if form is not None else None for form in (base, ours, theirs)]
        around = chosen(texts[0], texts[1], texts[2], [_comments_alone(text) for text in texts])
        own = segments[place]
        if around is None or own is None:
            segments[place] = None
        else:
            segments[place] = around + own if place == 0 else own + around
    return segments


def chosen(base: T | None, ours: T, theirs: T, said: Sequence[object]) -> T | None:
    """Return the side with a change, or else with a new layout; None where both changed it, each otherwise.

    `said` contains the three contents, without layout.
    """
    before, mine, other = said
    if mine == other:
        return theirs if ours == base else ours
    if before == mine:
        return theirs
    return ours if before == other else None


def _comments_alone(text: str | None) -> object:
    return None if text is None else [line.strip() for line in text.split("\n") if line.strip()]


def _merge_cores(base: ItemForm | None, ours: ItemForm, theirs: ItemForm) -> list[str | None]:
    """Return the segments of the merged core."""
    if ours.core == theirs.core or (base is not None and theirs.core == base.core):
        return [*ours.segments()]
    if base is None:
        return [*ours.segments()] if ours.normal == theirs.normal else _each_alone(ours, theirs)
    if ours.core == base.core:
        return [*theirs.segments()]
    if theirs.normal in (ours.normal, base.normal):
        return [*ours.segments()]
    try:
        return _by_phrase(base, ours, theirs)
    except (SyntaxFailure, AmbiguousKeys):
        side = chosen(base, ours, theirs, [base.normal, ours.normal, theirs.normal])
        return [None] * len(ours.bounds) if side is None else [*side.segments()]


def _each_alone(ours: ItemForm, theirs: ItemForm) -> list[str | None]:
    """Return the segments that both sides added equally."""
    pairs = zip(ours.segments(), theirs.segments(), strict=True)
    return [mine if words_of(mine) == words_of(other) else None for mine, other in pairs]


def _by_phrase(base: ItemForm, ours: ItemForm, theirs: ItemForm) -> list[str | None]:
    """Write theirs' changes into ours, or the other way round where theirs alone changed comments.

    Raise SyntaxFailure and AmbiguousKeys.
    """
    canvas, giver = ours, theirs
    if theirs.comments != base.comments:
        if ours.comments != base.comments and ours.comments != theirs.comments:
            return [None] * len(ours.bounds)
        canvas, giver = theirs, ours
    merge = _PhraseMerge(base, canvas, giver)
    broken = {canvas.segment_at(offset) for offset in merge.broken}
    segments: list[str | None] = [*canvas.segments(*edited(canvas, merge.edits))]
    if broken and canvas.normal == base.normal and giver.comments == base.comments:
        return [*giver.segments()]  # only the layout of the canvas was another
    return [None if index in broken else segment for index, segment in enumerate(segments)]


def edited(form: ItemForm, edits: Sequence[Edit]) -> tuple[str, list[int]]:
    """Return the core of a form with the edits applied, and its bounds."""
    pieces, at, bounds, grown = list[str](), 0, [*form.bounds], 0
    for start, end, text in apart(form.core, [(*span, text) for span, text in sorted(edits)]):
        pieces += [form.core[at:start], text]
        at = end
        grown = len(text) - (end - start)
        bounds = [bound + grown if last >= end else bound for bound, last in zip(bounds, form.bounds, strict=True)]
    return "".join([*pieces, form.core[at:]]), bounds


class _PhraseMerge:
    """The `edits` that write one side's changes into the other, the canvas; and the places changed by both,
    `broken`.
    """

    def __init__(self, base: ItemForm, canvas: ItemForm, giver: ItemForm) -> None:
        self._base, self._canvas, self._giver = base, canvas, giver
        self.edits: list[Edit] = []
        self.broken: list[int] = []
        if self._is_another_operation():
            self.broken.append(0)
        for key in self._keys("words"):
            self._phrase(*(form.words[key] for form in (base, canvas, giver)))
        for key in self._keys("lists"):
            self._list(key)

    def _keys(self, kind: str) -> list[str]:
        """Return the keys of the words or the lists, which all versions have. Raise AmbiguousKeys."""
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
        """Return the words and lists that a side changed, of attributes only the value of a constant."""
        words = {key for key in form.words if form.words[key].normal != self._base.words[key].normal}
        lists = self._base.lists
        return words | {key for key, listed in form.lists.items() if _taken(listed, key) != _taken(lists[key], key)}

    def _phrase(self, before: PhraseTokens | None, mine: PhraseTokens, other: PhraseTokens) -> None:
        """Write a phrase that the giver alone changed."""
        if other.normal == mine.normal or (before is not None and other.normal == before.normal):
            return
        is_losing = self._canvas.comments_in(mine.span) != self._giver.comments_in(other.span)
        if before is None or mine.normal != before.normal or is_losing:
            self.broken.append(mine.span.start)
        else:
            self.edits.append((mine.span, self._giver.core[slice(*other.span)]))

    def _list(self, key: str) -> None:
        """Write the giver's changes in a list: phrase by phrase, or all anew where the keys differ."""
        before, mine, other = (form.lists[key] for form in (self._base, self._canvas, self._giver))
        if [*mine.items] != [*other.items]:
            self._rewrite(key, before, mine, other)
            return
        for name, part in mine.items.items():
            if not (self._base.kind == "program" and name == BUILD_INFO and _is_stamped(before, mine, other)):
                self._phrase(before.items.get(name), part, other.items[name])

    def _rewrite(self, key: str, before: PhraseList, mine: PhraseList, other: PhraseList) -> None:
        """Write a list anew, unless the giver has the base's."""
        if _said(other, key) == _said(before, key):
            return
        place = mine.span.start
        if self._canvas.comments_in(mine.span):
            self.broken.append(place)
            return
        versions = before.items, mine.items, other.items
        if not _is_unordered(key) and replaced_twice(*versions):
            self.broken.append(place)
        order = merged_order(*map(list, versions))
        found = [self._kept(place, *(each.items.get(name) for each in (before, mine, other))) for name in order]
        self.edits.append((mine.span, mine.written([text for text in found if text is not None])))

    def _kept(
        self, place: int, before: PhraseTokens | None, mine: PhraseTokens | None, other: PhraseTokens | None
    ) -> str | None:
        """Return the text of an item of a merged list; None where one side took it away, unchanged by the other."""
        said = [part and part.normal for part in (before, mine, other)]
        if said[0] == said[1] != said[2]:
            return self._text(self._giver, other)
        if said[1] != said[2] and said[0] != said[2]:
            self.broken.append(place)
        return self._text(self._canvas, mine)

    def _text(self, form: ItemForm, part: PhraseTokens | None) -> str | None:
        return None if part is None else form.core[slice(*part.span)]


def _is_stamped(before: PhraseList, mine: PhraseList, other: PhraseList) -> bool:
    """Return whether both sides state anew the tools and the date of a program: then ours stays."""
    said = [each.items[BUILD_INFO].normal if BUILD_INFO in each.items else None for each in (before, mine, other)]
    return said[0] not in said[1:]


def _said(listed: PhraseList, key: str) -> object:
    """Return the contents of a list; the order of arguments and attributes does not count."""
    said = {name: part.normal for name, part in listed.items.items()}
    return said if _is_unordered(key) else [*said.items()]


def _taken(listed: PhraseList, key: str) -> object:
    """Return the contents of a list that belong to an operation's operands."""
    if key == "attributes":
        return listed.items["val"].normal if "val" in listed.items else None
    return None if key == "results" else _said(listed, key)


def _is_unordered(key: str) -> bool:
    return key.startswith(("arguments", "attributes"))
