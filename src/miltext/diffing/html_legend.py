"""The legend of the page of a difference: signs, colours, folds and keys."""

from __future__ import annotations

from html import escape

_ENTRIES = (
    ("plus", "+", "added: only in the new model"),
    ("minus", "-", "removed: only in the old model"),
    ("change", "~", "changed: in both, with the differences below it"),
    ("move", ">", "moved, relative to the others"),
    ("name", "=", "renamed; in the texts, also another place of a weight, or another tool"),
    ("note", "#", "not compared"),
    ("equal", "↑", "of a row: a link to the difference of a function, inner blocks, or a constant used there"),
    ("follow", "↳", "of a node in a graph: all of its differences follow from others"),
)
"""The class, the sign and the meaning of each sign of an entry, a row or a node."""

_WORDS = (
    ("del", "3", "the words that only the old model has"),
    ("ins", "17", "the words that only the new model has"),
    ("code", "-12 +14", "beside an entry: links to its lines in the old and the new text"),
    ("code", "▸", "a fold: it opens to all that it stands for"),
)
"""The element, an example and the meaning of other marks."""

_KEYS = (
    ("/", "the filter: only entries and rows with all of its words; Enter goes to the next one, Escape empties it"),
    ("n p", "the next and the previous change of the texts"),
    ("g", "both graphs; from the links of an entry, also its node"),
)
"""The keys, and their effects."""


def legend(has_graphs: bool) -> str:
    """Return the legend, folded."""
    signs = [(f'<code class="sign {kind}">{escape(sign)}</code>', words) for kind, sign, words in _ENTRIES]
    marks = [(f"<{tag}>{escape(sample)}</{tag}>", words) for tag, sample, words in _WORDS]
    keys = [(f"<kbd>{escape(key)}</kbd>", words) for key, words in _KEYS]
    if not has_graphs:
        signs, marks, keys = signs[:-2], marks[:2] + marks[3:], keys[:1]
    rows = "".join(f"<div><dt>{sample}</dt><dd>{escape(words)}</dd></div>\n" for sample, words in signs + marks + keys)
    return f'<details id="legend"><summary>Legend</summary>\n<dl>\n{rows}</dl></details>\n'
