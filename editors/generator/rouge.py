"""The lexer's states as a lexer of Rouge, which Jekyll and GitLab colour code with."""

from __future__ import annotations

from collections.abc import Iterator

from generator.patterns import ruby
from generator.states import Entry, read_states

HEAD = """\
# frozen_string_literal: true

# MIL, the text of Core ML's programs, for Rouge.
# Made by editors/generate.py from src/miltext/highlight.py.

require 'rouge'

module Rouge
  module Lexers
    class MIL < RegexLexer
      title 'MIL'
      desc "The text of Core ML's programs"
      tag 'mil'
      filenames '*.mil'
      mimetypes 'text/x-mil'

      def self.detect?(text)
        return true if text =~ /\\A\\s*program\\s*\\(/
      end
"""

FOOT = """\
    end
  end
end
"""


def rouge_lexer() -> str:
    """Make the file `mil.rb`."""
    return HEAD + "".join(line for name, rules in read_states().items() for line in _state(name, rules)) + FOOT


def _state(name: str, entries: list[Entry]) -> Iterator[str]:
    yield f"\n      state :{name} do\n"
    for entry in entries:
        yield f"        {_entry(entry)}\n"
    yield "      end\n"


def _entry(entry: Entry) -> str:
    """Spell a rule. The tokens of Rouge have the names of Pygments; one that only looks ahead yields no text."""
    if isinstance(entry, str):
        return f"mixin :{entry}"
    token = "::".join(entry.token) if entry.token else "Text"
    target = ":pop!" if entry.leaves else entry.enters and f":{entry.enters}"
    return f"rule %r/{ruby(entry.pattern)}/, {token}{f', {target}' if target else ''}"
