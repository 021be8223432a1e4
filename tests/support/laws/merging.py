"""What must hold of merges: edits of different statements are both there, and nothing that a side added is lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from miltext.merging.merging import Merged, merge_texts
from miltext.parsing.parser import parse_tree
from miltext.parsing.scopes import Scopes

_NAME = r"[A-Za-z_][A-Za-z0-9_@]*"
_LINE = re.compile(
    rf"^(?P<indent>[ \t]*)(?P<type>\w[^=;\n]*[\w>]) (?P<name>{_NAME}) = (?P<kind>{_NAME})\((?P<given>[^;\n]*);"
)
"""A line that is one statement with one result."""

_USE = re.compile(rf"= ({_NAME})(?=[,)])")


class Edit(NamedTuple):
    """A change of a text that still has the statements it is about, by the names of their results.

    It `touches` these, needs what others make, takes some away, and what it `adds` has to be found afterwards.
    """

    kind: str
    apply: Callable[[str], str]
    touches: frozenset[str]
    adds: str = ""
    needs: frozenset[str] = frozenset()
    deletes: frozenset[str] = frozenset()

    def is_apart_from(self, other: Edit) -> bool:
        """Whether two edits are about different statements."""
        touched = self.touches & other.touches
        return not (touched or self.deletes & other.needs or self.needs & other.deletes)


def held(random: Random, text: str, edits: int = 1) -> str:
    """Try so many edits on each side of a text; return how it ended. Raise AssertionError where the law is broken."""
    (ours, mine), (theirs, other) = (_edited(random, text, tag, edits) for tag in ("ours", "theirs"))
    merged = merge_texts(text, mine, other)
    named = " and ".join(", ".join(edit.kind for edit in side) for side in (ours, theirs))
    for side, text_of_side in ((ours, mine), (theirs, other)):
        for edit in side:
            assert edit.adds not in text_of_side or edit.adds in merged.text, (named, "lost", edit.adds)
    if not merged.conflicts:
        parse_tree(merged.text)
    if all(edit.is_apart_from(each) for edit in ours for each in theirs):
        assert not merged.conflicts, (named, "in conflict", _conflicts(merged))
        if edits == 1 or "rename" not in named:
            assert said(merged.text) == said(_both(text, ours, theirs)), (named, "another result")
        assert _is_in_order(merged.text) or not _is_in_order(text), (named, "a use before its definition")
    return f"{named}: {'conflict' if merged.conflicts else 'merged'}"


def _edited(random: Random, text: str, tag: str, edits: int) -> tuple[list[Edit], str]:
    """Return edits of a text at random, each of what the one before made, and the text in the end."""
    made = list[Edit]()
    for number in range(edits):
        made.append(random_edit(random, text, f"{tag}{number}"))
        text = made[-1].apply(text)
    return made, text


def _both(text: str, ours: list[Edit], theirs: list[Edit]) -> str:
    """Return a text with all edits; a rename comes last, for the other edits have the old name."""
    for edit in sorted((*ours, *theirs), key=lambda edit: edit.kind == "rename"):
        text = edit.apply(text)
    return text


def _conflicts(merged: Merged) -> list[str]:
    return re.findall(r"^<{7}.*?^>{7}[^\n]*", merged.text, re.MULTILINE | re.DOTALL)


def said(text: str) -> Counter[str]:
    """Return the lines of a text, whatever their order and their layout."""
    return Counter("".join(line.split()) for line in text.splitlines() if line.strip())


def statements(text: str) -> list[re.Match[str]]:
    """Return the statements that are on lines of their own."""
    return [match for line in re.finditer(r"^.+$", text, re.MULTILINE) if (match := _LINE.match(line[0]))]


def _is_in_order(text: str) -> bool:
    known = {match["name"] for match in statements(text)}
    for match in statements(text):
        if known.intersection(_uses(match)):
            return False
        known.discard(match["name"])
    return True


def _uses(match: re.Match[str]) -> list[str]:
    return _USE.findall(match["given"])


def random_edit(random: Random, text: str, tag: str) -> Edit:
    """Return an edit of a text, of a kind at random; what it makes up has the tag in its name."""
    kinds = list(KINDS)
    while True:
        kind = random.choice(kinds)
        if edit := KINDS[kind](random, text, f"{tag}_{random.randrange(1000)}"):
            return edit._replace(kind=kind)


def _replaced(name: str, change: Callable[[str], str]) -> Callable[[str], str]:
    """Return the change of the line that defines a name."""

    def apply(text: str) -> str:
        lines = text.splitlines(keepends=True)
        for index, line in enumerate(lines):
            if (match := _LINE.match(line)) and match["name"] == name:
                lines[index] = change(line)
                return "".join(lines)
        raise AssertionError(name)

    return apply


# ---- the kinds of edits


def _rename(random: Random, text: str, tag: str) -> Edit:
    name = random.choice(statements(text))["name"]

    def apply(text: str) -> str:
        scopes = Scopes(parse_tree(text, whole=True).root)
        value = next(found for _, found in scopes.found if found is not None and found.name.text == name)
        for place in reversed(value.names):
            text = text[: place.start] + tag + text[place.end :]
        return text

    return Edit("", apply, frozenset([name]), tag)


def _insert(random: Random, text: str, tag: str) -> Edit:
    """Put an operation behind another, or at the place of its uses in the next that has some."""
    match = random.choice(statements(text))
    name = match["name"]
    users = [each for each in statements(text) if name in _uses(each)]
    line = f"{match['indent']}{match['type']} {tag} = relu(x = {name});\n"
    insert = _replaced(name, lambda found: found + line)
    if not users or random.random() < 0.5:
        return Edit("", insert, frozenset([tag]), tag, frozenset([name]))
    user = random.choice(users)["name"]
    rewire = _replaced(user, lambda found: re.sub(rf"= {re.escape(name)}(?=[,)])", f"= {tag}", found))
    return Edit("", lambda text: insert(rewire(text)), frozenset([tag, user]), tag, frozenset([name]))


def _delete(random: Random, text: str, tag: str) -> Edit | None:
    """Take an operation away, whose input takes its place."""
    lines = [each for each in statements(text) if _uses(each)]
    if not lines:
        return None
    match = random.choice(lines)
    name, source = match["name"], random.choice(_uses(match))
    users = [each["name"] for each in statements(text) if name in _uses(each)]
    if len(re.findall(rf"(?<![\w@\"]){re.escape(name)}(?![\w@\"])", text)) != 1 + len(users):
        return None  # what gives it back, or an inner block, uses it too

    def apply(text: str) -> str:
        for user in users:
            text = _replaced(user, lambda line: re.sub(rf"= {re.escape(name)}(?=[,)])", f"= {source}", line))(text)
        return _replaced(name, lambda line: "")(text)

    return Edit("", apply, frozenset([name, *users]), "", frozenset([source]), frozenset([name]))


def _change(random: Random, text: str, tag: str) -> Edit:
    """State an attribute more, or another number in one that is there."""
    match = random.choice(statements(text))
    number = str(random.randrange(10**8, 10**9))
    added = f"{tag} = int32({number})"
    patterns = {
        r"(\(\[?)-?\d+(?=[\],)])": rf"\g<1>{number}",
        r"\];": f", {added}];",
        r"\);": f")[{added}];",
    }
    pattern = next(each for each in patterns if re.search(each, match[0]))
    change = _replaced(match["name"], lambda line: re.sub(pattern, patterns[pattern], line, count=1))
    return Edit("", change, frozenset([match["name"]]), number)


def _parameter(random: Random, text: str, tag: str) -> Edit | None:
    """Give a parameter another value, of those defined before."""
    found = statements(text)
    places = [index for index, each in enumerate(found) if index and _uses(each)]
    if not places:
        return None
    index = random.choice(places)
    old, new = random.choice(_uses(found[index])), found[random.randrange(index)]["name"]
    change = _replaced(found[index]["name"], lambda line: re.sub(rf"= {re.escape(old)}(?=[,)])", f"= {new}", line))
    return Edit("", change, frozenset([found[index]["name"]]), "", frozenset([new]))


def _move(random: Random, text: str, tag: str) -> Edit | None:
    """Move an operation up, right behind the last that it uses."""
    found = statements(text)
    names = [each["name"] for each in found]
    index = random.randrange(len(found))
    needed = [names.index(name) for name in _uses(found[index]) if name in names]
    before = names[max(needed)] if needed else ""
    if not before or max(needed) >= index or found[max(needed)]["indent"] != found[index]["indent"]:
        return None

    def apply(text: str) -> str:
        line = next(
            line for line in text.splitlines(keepends=True) if (m := _LINE.match(line)) and m["name"] == names[index]
        )
        without = _replaced(names[index], lambda line: "")(text)
        return _replaced(before, lambda found: found + line)(without)

    return Edit("", apply, frozenset([names[index]]))


def _comment(random: Random, text: str, tag: str) -> Edit:
    name = random.choice(statements(text))["name"]
    if random.random() < 0.5:
        return Edit("", _replaced(name, lambda line: f"        // {tag}\n{line}"), frozenset([name]), f"// {tag}")
    return Edit("", _replaced(name, lambda line: f"{line.rstrip()} // {tag}\n"), frozenset([name]), f"// {tag}")


def _lay_out(random: Random, text: str, tag: str) -> Edit:
    indent = random.choice(["\t", "  ", " " * 12])
    return Edit("", lambda text: re.sub(r"^[ \t]+", indent, text, flags=re.MULTILINE), frozenset())


KINDS: dict[str, Callable[[Random, str, str], Edit | None]] = {
    "rename": _rename,
    "insert": _insert,
    "delete": _delete,
    "change": _change,
    "parameter": _parameter,
    "move": _move,
    "comment": _comment,
    "layout": _lay_out,
}
