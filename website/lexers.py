"""The Pygments lexer of what miltext reports: findings with their excerpts, and differences between models."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, using
from pygments.token import Comment, Generic, Name, Text

from miltext.highlight import MilLexer

__all__ = ["ReportLexer"]


class ReportLexer(RegexLexer):
    """For findings as `miltext check` shows them, and for what `miltext diff` says; MIL in them is coloured as MIL."""

    name = "miltext's reports"
    aliases = ["mil-report"]
    flags = re.MULTILINE

    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": [
            (r"^(.*?)(error\[MIL\d+\]:)(.*\n?)", bygroups(Name.Label, Generic.Error, Generic.Strong)),
            (r"^(.*?)(warning\[MIL\d+\]:)(.*\n?)", bygroups(Name.Label, Name.Exception, Generic.Strong)),
            (r"^(.*?)(note(?:\[MIL\d+\])?:)(.*\n?)", bygroups(Name.Label, Name.Entity, Text)),
            (r"^( *\d+ \| )(.*\n?)", bygroups(Comment, using(MilLexer, state="functions"))),
            (r"^( +\| )( *)(\^~*)(.*\n?)", bygroups(Comment, Text, Generic.Error, Text)),
            (r"^( *\+|\+\+\+) .*\n?", Generic.Inserted),
            (r"^( *-|---) .*\n?", Generic.Deleted),
            (r"^( *)(~)( .*\n?)", bygroups(Text, Name.Exception, Text)),
            (r"^( *)([>=])( .*\n?)", bygroups(Text, Name.Entity, Text)),
            (r"^((?:func|weights|state)\b.*\n?)", Generic.Strong),
            (r".*\n|.+", Text),
        ]
    }
