"""The lexer: the grammar's terminals as one regular expression, whose first guess at a token is nearly always right.

Where a guess does not fit the parser's state, the expression of that state's own terminals decides, as in Lark's
contextual lexer; so both read the same tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from itertools import islice

from miltext.syntax.literals import FORBIDDEN
from miltext.syntax.tables import WORD_END, Grammar, load_grammar, words_of

STATEMENTS = frozenset(["OPERATION"])
"""The coarse terminal for a whole plain operation: in a tree, it stays whole until its phrases are read."""

COARSE = STATEMENTS | {"TENSOR"}
"""All coarse terminals: the fast path of a parse that keeps no places."""

FINE: frozenset[str] = frozenset()
"""No coarse terminal: each phrase by its own rule."""

END = "$END"

MOST_ESCAPES = 1 << 12
"""The number of escapes in a string that an expression reads at once, for it keeps each until the end of the string."""

_OTHER = rf"/\*[^{FORBIDDEN}]*|\$?\"[^{FORBIDDEN}\t\r\n]*|[-+.$0-9A-Za-z_@]+|[^ \t\r\n]"
"""Text that begins like a token, up to the first character that does not fit: each character is read once."""

_NOT_ASCII = r"-?(?:[^\x00-\x7f]|\\x[89a-f][0-9a-f]|\\u[0-9a-f]{4})"
"""A character outside of ASCII in a set, itself or escaped, or the end of a range there."""


class Lexer:
    """The terminals as one expression, and the meanings of its groups and words.

    Only the `coarse` ones among the grammar's coarse terminals are read.
    """

    def __init__(self, grammar: Grammar, coarse: frozenset[str]) -> None:
        self.grammar = grammar
        self.terminals = [terminal for terminal in grammar.terminals if not terminal.fast or terminal.name in coarse]
        self.words: dict[str, str] = {}
        groups: list[tuple[str, str]] = []
        literals: list[str] = []
        for terminal in self.terminals:
            words = words_of(terminal.pattern) if terminal.pattern.endswith(WORD_END) else []
            if words and words[0][0] != "$":  # a name could be taken for it: `func`, or `true` and `false`
                self.words.update(dict.fromkeys(words, terminal.name))
            elif terminal.literal is not None:
                self.words[terminal.literal] = terminal.name
                literals.append(terminal.pattern)
            elif terminal.name != "WHITE_SPACE":
                groups.append((terminal.name, _bounded(terminal.pattern)))
        self.names = ["", *(name for name, _ in groups), "LITERAL", END, "OTHER"]
        patterns = [*(pattern for _, pattern in groups), _any_of(literals), r"\Z", _OTHER]
        self.pattern = r"[ \t\r\n]*(?:" + "|".join(f"({pattern})" for pattern in patterns) + ")"

    def expression(self, text: str) -> re.Pattern[str]:
        """Return the expression for the tokens of a text. For ASCII, it is one without other characters, which takes
        less time to compile.
        """
        return self._of_ascii if text.isascii() else self._of_all

    @cached_property
    def _of_all(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @cached_property
    def _of_ascii(self) -> re.Pattern[str]:
        return re.compile(re.sub(_NOT_ASCII, "", self.pattern))

    def tokens(self, text: str, start: int) -> Iterator[tuple[str, str, int]]:
        """Yield the tokens from a place on, each by the first guess: terminal, text and place. The last is `$END`."""
        while start >= 0:
            scanned, start = self.expression(text).finditer(text, start), -1
            for match in scanned:
                kind = match.lastindex
                assert kind is not None  # some group always matches
                at = match.start(kind)
                if self.names[kind] == "OTHER" and (long := self.long_string(text, at)):
                    yield *long, at
                    start = at + len(long[1])
                    break
                yield self.names[kind], match[kind], at

    def word(self, text: str, start: int) -> str | None:
        """Return the word of the grammar at a place, such as `shape`; None for any other token."""
        terminal, token, _ = next(self.tokens(text, start))
        return token if terminal == "NAME" and token in self.words else None

    @cache  # noqa: B019  # a lexer lives as long as the process
    def contextual(self, state: int) -> tuple[re.Pattern[str], list[str]]:
        """Return the expression for the terminals that `state` accepts, in Lark's order, and their names by group."""
        takes = self.grammar.states[state]
        chosen = [terminal for terminal in self.terminals if terminal.name in takes]
        pattern = "|".join(f"({_bounded(terminal.pattern)})" for terminal in chosen)
        return re.compile(pattern or r"(?!)"), [terminal.name for terminal in chosen]

    def long_string(self, text: str, start: int) -> tuple[str, str] | None:
        """Return the string or the quoted name at a place with more escapes than an expression reads at once."""
        terminal, quote = ("NAME", start + 1) if text.startswith("$", start) else ("STRING", start)
        if not text.startswith('"', quote):
            return None
        end = string_body_end(text, quote)
        return (terminal, text[start : end + 1]) if text.startswith('"', end) else None


def _any_of(literals: list[str]) -> str:
    """Return the expression for any of the literals. Those that are words share one WORD_END, as it takes less time to
    compile.
    """
    words = [pattern.removesuffix(WORD_END) for pattern in literals if pattern.endswith(WORD_END)]
    marks = [pattern for pattern in literals if not pattern.endswith(WORD_END)]
    return "|".join([f"(?:{'|'.join(words)}){WORD_END}", *marks])


def _bounded(pattern: str) -> str:
    """Return a terminal's expression with a limit on the escapes of a string in it."""
    return pattern.replace(')*"', f'){{0,{MOST_ESCAPES}}}"')


@lru_cache(maxsize=1)
def _string_body() -> re.Pattern[str]:
    """Return the expression for the text between a string's quotes, or for the first part of it."""
    return re.compile(_bounded(load_grammar().parts["STRING"])[1:-1])


def string_body_end(text: str, quote: int) -> int:
    """Return the offset of a string's closing quote, or else of the first character that it cannot contain; `quote`
    opens it.
    """
    body, start, end = _string_body(), quote, quote + 1
    while end > start:
        start, end = end, body.match(text, end).end()  # type: ignore[union-attr]  # it matches nothing, too
    return end


@lru_cache(maxsize=3)
def lexer(coarse: frozenset[str]) -> Lexer:
    """Return the process's lexer that reads these coarse terminals."""
    return Lexer(load_grammar(), coarse)


def dialect_of(text: str) -> str:
    """Return the dialect that a text states; 1.3 where that is unclear."""
    words = (word for terminal, word, _ in lexer(FINE).tokens(text, 0) if terminal != "COMMENT")
    return "1.0" if [*islice(words, 4)] == ["program", "(", "1.0", ")"] else "1.3"
