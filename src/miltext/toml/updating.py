"""A text in TOML updated in place: values that changed are replaced, and comments and layout of the rest are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from miltext.diagnostics.dynamic import Json
from miltext.toml.blocks import blocks
from miltext.toml.reading import read_toml
from miltext.toml.writing import is_table, key_text, table_text, value_text

Table = Mapping[str, Json]


@dataclass
class _Node:
    """A table of the text: its key in the table around it, its header with the comments above, and its values."""

    key: str
    head: str
    body: str
    inner: list[_Node] = field(default_factory=list)
    is_new: bool = False

    def all(self) -> Iterator[_Node]:
        """Yield the table and its inner tables, in their order in the text."""
        yield self
        for node in self.inner:
            yield from node.all()


def updated(text: str, table: Table) -> str | None:
    """Return a text of TOML updated to the values of a table; None where its spelling cannot be kept.

    Tables of an array are paired by equal `name`; then the others, in their order. A new table comes after the tables
    of its array, or at the end. Raise NotToml.
    """
    if _exact(read_toml(text)) == _exact(table):
        return text
    lines = text.replace("\r\n", "\n")
    root = _tree(lines)
    _update(root, table, "")
    made = _joined(root)
    made = made.replace("\n", "\r\n") if "\r\n" in text else made
    return made if _exact(read_toml(made)) == _exact(table) else None


def _tree(text: str) -> _Node:
    """Return the tables of a text as a tree; a table without a header of its own has an empty one."""
    first, *others = blocks(text)
    found: dict[tuple[str | int, ...], _Node] = {(): _Node("", "", text[: first.end])}
    for block in others:
        node = found[()]
        for end, key in enumerate(block.at, 1):
            if isinstance(key, str) and end < len(block.at) - isinstance(block.at[-1], int):
                way = block.at[: end + isinstance(block.at[end], int)]
                node = _within(found, node, way, key)
        key = next(each for each in reversed(block.at) if isinstance(each, str))
        made = _Node(key, text[block.start : block.header.end], text[block.body : block.end])
        found[block.at] = made
        node.inner.append(made)
    return found[()]


def _within(found: dict[tuple[str | int, ...], _Node], around: _Node, way: Sequence[str | int], key: str) -> _Node:
    """Return the table at a way; make it without a header if it is missing."""
    if tuple(way) not in found:
        found[tuple(way)] = _Node(key, "", "")
        around.inner.append(found[tuple(way)])
    return found[tuple(way)]


def _joined(root: _Node) -> str:
    """Return the text of all tables, each on lines of its own; an empty line is around a new one."""
    text, was_new = "", False
    for node in root.all():
        piece = node.head + node.body
        if text and piece and not text.endswith("\n"):
            text += "\n"
        if text and piece and (node.is_new or was_new) and not text.endswith("\n\n"):
            text += "\n"
        text += piece
        was_new = node.is_new if piece else was_new
    return text if text.endswith("\n") or not text else f"{text}\n"


# ---- one table


def _update(node: _Node, table: Table, way: str) -> None:
    """Update a table of the text, at a dotted way, to the values of another table."""
    first, newline, values = node.body.partition("\n") if node.head else ("", "", node.body)
    written = read_toml(values)
    inline = {key for key, value in table.items() if is_table(value) and _exact(written.get(key)) == _exact(value)}
    own = {key: value for key, value in table.items() if key in inline or not is_table(value)}
    if own and not node.head and way:
        node.head, node.is_new, newline = f"[{way}]", True, "\n"
    values = _values(values, written, own)
    node.body = first + (newline or "\n" * bool(node.head and values)) + values
    node.inner = [each for each in node.inner if is_table(table.get(each.key)) and each.key not in inline]
    for key, value in table.items():
        if is_table(value) and key not in inline:
            inner = f"{way}.{key_text(key)}" if way else key_text(key)
            _update_tables(node, key, value if isinstance(value, list) else [value], inner, isinstance(value, list))


def _values(text: str, before: Table, own: Table) -> str:
    """Return the text of a table's values, with the values `before` replaced by other ones; equal values keep their
    text.
    """
    import tomlkit

    if _exact(before) == _exact(own):
        return text
    written = text.rstrip()
    document = tomlkit.parse(f"{written}\n" if written else "")
    for key in [key for key in before if key not in own]:
        document.remove(key)
    for key, value in own.items():
        if key not in before or _exact(before[key]) != _exact(value):
            document[key] = tomlkit.value(value_text(value))
    made = document.as_string().rstrip()
    return made + "\n" * (not written) + text[len(written) :]


def _update_tables(node: _Node, key: str, values: list[Table], way: str, listed: bool) -> None:
    """Update the tables of a key to these values: existing tables keep their places, new ones follow them."""
    places = [index for index, each in enumerate(node.inner) if each.key == key]
    paired = _paired([node.inner[index] for index in places], values)
    made = []
    for value, there in zip(values, paired, strict=True):
        if there is None:
            there = _Node(key, table_text(value, way, listed), "", is_new=True)
        else:
            _update(there, value, way)
        made.append(there)
    last = places[-1] + 1 if places else len(node.inner)
    filled = dict(zip(places, made, strict=False))
    kept = [filled.get(index, each) for index, each in enumerate(node.inner) if index in filled or each.key != key]
    more = made[len(places) :]
    at = last - (len(places) - len(filled))
    node.inner = [*kept[:at], *more, *kept[at:]]


def _paired(there: list[_Node], values: list[Table]) -> list[_Node | None]:
    """Return the table of the text for each value: the table of the same name, or else the next unpaired table."""
    left = [(read_toml(node.body).get("name"), node) for node in there]
    paired: list[_Node | None] = []
    for value in values:
        found = next((each for each in left if each[0] == value.get("name")), None)
        if found:
            left.remove(found)
        paired.append(found[1] if found else None)
    others = iter([node for _, node in left])
    return [node or next(others, None) for node in paired]


def _exact(value: object) -> str:
    """Return a text, equal for equal values of TOML only: -0.0 differs from 0.0, and 1 from 1.0 and true; NaNs are
    equal.
    """
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_exact(value[key])}' for key in sorted(value))}}}"
    return f"[{', '.join(map(_exact, value))}]" if isinstance(value, list) else repr(value)
