"""Comments at the ends of lines that suppress findings there: `// mil: ignore[MIL603]`.

Such a comment applies to its line, and to each whole phrase with a part there: an operation with arguments on several
lines, or the head of a function or block. So the layout by `miltext fmt` does not matter.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from miltext.checking.findings import in_order
from miltext.diagnostics import SAFE, UNSAFE, Diagnostic, Span, codes
from miltext.diagnostics.selection import keeps_from_reading, means, near_code, normal, unknown
from miltext.diagnostics.wording import listed
from miltext.syntax.lexer import FINE, lexer

_IGNORE = re.compile(r"(?i)//[ \t]*mil:[ \t]*ignore\b(?P<codes>[ \t]*\[(?P<listed>[^\]\r\n]*)\])?")
_NEAR = re.compile(
    r"""(?ix) /[/*] [ \t*]* (?: mil(?:text)? [ \t]*:[ \t]* (?:ignore|noqa|disable) \b
      | (?: \w+ [ \t]* :? [ \t]* )? (?:ignore|noqa|disable) \b (?= [ \t:=(\[]* MIL\d ) )
    (?: [ \t:=(\[]* (?P<codes> MIL\d+ (?: [ \t,]+ MIL\d+ )* ) [ \t]* [])]? )?"""
)
"""A pattern of misspelt comments that should ignore findings."""

_WORD = re.compile(r"[^,\s]+")
_ENDS = frozenset([";", "{", "}"])
"""The tokens at the end of a phrase, for the scope of a comment."""

FORM = f"write `// mil: ignore[{codes.SHADOWED_VALUE}]`, with codes or their beginnings, or `// mil: ignore` for all"

GAPS = frozenset([codes.ELIDED_LITERAL, codes.VALUE_IN_ARRAY_FILE, codes.IMPORT_IN_TEXT, codes.DRAFT])
"""The codes of a text with omitted values or types."""

OPTIONAL = "MIL8"
"""The beginnings of codes that only the optional check by coremltools finds."""


@dataclass
class Ignore:
    """A comment that ignores findings beginning in `region`; one on a line of its own has no region.

    `words` are codes or beginnings of codes; no words stand for all codes. `used` are the words (None for all codes)
    that suppressed a finding. `is_clear` is true without other words.
    """

    span: Span
    region: Span | None
    words: dict[str, Span]
    is_clear: bool = True
    used: set[str] = field(default_factory=set)

    def takes(self, diagnostic: Diagnostic) -> bool:
        """Return whether the comment ignores a finding in its region; if so, mark it as used.

        A comment without codes does not apply to a note about omitted values or types, which concerns the whole text.
        """
        words = self.words or ([] if diagnostic.code in GAPS else [""])
        taking = {word for word in words if means(normal(word), diagnostic.code)}
        self.used |= taking
        return bool(taking)


def without_ignored(text: str, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the findings that no comment of the text ignores, and the findings about such comments.

    A comment that ignores nothing is reported only in a text without gaps and errors, which hide further findings.
    """
    if not (_IGNORE.search(text) or _NEAR.search(text)):
        return [*found]
    is_whole = GAPS.isdisjoint(diagnostic.code for diagnostic in found)
    ignores, broken = _read(text)
    left = _left(found, ignores)
    is_certain = is_whole and all(diagnostic.severity != "error" for diagnostic in left)
    unused = [told for ignore in ignores for told in _unused(text, ignore)] if is_certain else []
    return in_order([*left, *broken, *unused])


def _left(found: Sequence[Diagnostic], ignores: Sequence[Ignore]) -> list[Diagnostic]:
    """Return the findings without the ignored ones.

    Regions may overlap, but no region begins or ends before an earlier one.
    """
    there = [(ignore, ignore.region) for ignore in ignores if ignore.region is not None]
    starts, ends = [region.start for _, region in there], [region.end for _, region in there]
    left: list[Diagnostic] = []
    for diagnostic in found:
        around: list[tuple[Ignore, Span]] = []
        if diagnostic.span is not None and not keeps_from_reading(diagnostic):
            place = diagnostic.span.start
            around = there[bisect_right(ends, place) : bisect_right(starts, place)]
        if not [ignore for ignore, _ in around if ignore.takes(diagnostic)]:
            left.append(diagnostic)
    return left


def _unused(text: str, ignore: Ignore) -> Iterator[Diagnostic]:
    """Yield the warning about a comment without effect, or about its codes without effect."""
    idle = [word for word in ignore.words if word not in ignore.used and not normal(word).startswith(OPTIONAL)]
    left = [word for word in ignore.words if word not in idle]
    if (left and not idle) or "" in ignore.used:
        return
    message, mended = "this comment ignores nothing; remove it", ""
    if idle:
        pronoun = "them" if len(idle) > 1 else "it"
        what = f"{pronoun} from the comment" if left else "the comment"
        message = f"{listed(idle, 'and')} {'are' if len(idle) > 1 else 'is'} not found here; remove {what}"
    if left:
        mended = f"{text[slice(*ignore.span)].partition('[')[0]}[{', '.join(left)}]"
    yield Diagnostic(
        "warning", codes.USELESS_IGNORE, message, ignore.span, (), mended, SAFE if ignore.is_clear else UNSAFE
    )


# ---- reading


def _read(text: str) -> tuple[list[Ignore], list[Diagnostic]]:
    """Return the comments of a text that ignore findings, and the findings about them."""
    comments, phrases = _comments_and_phrases(text)
    starts, ends = [phrase.start for phrase in phrases], [phrase.end for phrase in phrases]
    ignores, broken = list[Ignore](), list[Diagnostic]()
    for comment in comments:
        broken += _misspelt(text, comment)
        if not text.startswith("//", comment.start):
            continue
        for match in _IGNORE.finditer(text, *comment):
            words, wrong = _words(match, text[match.end() : comment.end])
            broken += wrong
            if words is None:
                continue
            line = max(text.rfind("\n", 0, comment.start), text.rfind("\r", 0, comment.start)) + 1
            first, last = bisect_right(ends, line), bisect_left(starts, comment.start) - 1
            region = None
            if first <= last and text[line : comment.start].strip():
                region = Span(min(line, starts[first]), max(comment.start, ends[last]))
            ignores.append(Ignore(Span(*match.span()), region, words, not wrong))
    return ignores, broken


def _comments_and_phrases(text: str) -> tuple[list[Span], list[Span]]:
    """Return the places of the comments, and of the phrases, which end in `;`, `{` or `}`."""
    comments, phrases = list[Span](), list[Span]()
    start = end = -1
    for kind, token, at in lexer(FINE).tokens(text, 0):
        if kind == "COMMENT":
            comments.append(Span(at, at + len(token)))
            continue
        start, end = at if start < 0 else start, at + len(token)
        if token in _ENDS:
            phrases.append(Span(start, end))
            start = -1
    return comments, [*phrases, Span(start, end)] if start >= 0 else phrases


def _misspelt(text: str, comment: Span) -> list[Diagnostic]:
    """Return the warning about a misspelt comment that should ignore findings."""
    near = _NEAR.match(text, *comment)
    if near is None or _IGNORE.search(text, *comment):
        return []
    known = [word for word in re.findall(r"\w+", near["codes"] or "") if unknown(word) is None]
    meant, span = f"// mil: ignore[{', '.join(known)}]" if known else None, Span(*near.span())
    if text.startswith("/*", comment.start):
        rest = re.match(r"[ \t]*(?:[\r\n]|\Z)", text[comment.end : comment.end + 200])
        is_all = not text[near.end() : comment.end].rstrip("*/ \t")
        meant, span = meant if rest and is_all else None, comment
    return [_wrong(f"this comment ignores nothing; {FORM}", span, meant)]


def _words(match: re.Match[str], rest: str) -> tuple[dict[str, Span] | None, list[Diagnostic]]:
    """Return the codes in a comment, None if they are unclear; and the findings about it."""
    span = Span(*match.span())
    if match["codes"] is None:
        if not rest.strip() or rest.lstrip().startswith("//"):
            return {}, []
        listed = [word for word in re.findall(r"\w+", rest) if unknown(word) is None]
        meant = f"{match[0]}[{', '.join(listed)}]" if listed else None
        whole = Span(span.start, span.end + len(rest.rstrip()))
        return None, [_wrong(f"this comment is not understood, and ignores nothing; {FORM}", whole, meant)]
    at = match.start("listed")
    words = {word[0]: Span(at + word.start(), at + word.end()) for word in _WORD.finditer(match["listed"])}
    if not words:
        return None, [_wrong(f"this comment names no code; {FORM}", span, None)]
    wrong = {word: told for word in words if (told := unknown(word))}
    found = [_wrong(told, words[word], near_code(word)) for word, told in wrong.items()]
    known = {word: place for word, place in words.items() if word not in wrong}
    return known or None, found


def _wrong(message: str, span: Span, suggestion: str | None) -> Diagnostic:
    return Diagnostic("warning", codes.IGNORE_WITHOUT_CODE, message, span, (), suggestion, UNSAFE)
