"""Texts that were tampered with: a few of their tokens dropped, doubled, swapped, replaced or broken."""

from __future__ import annotations

import re
from random import Random

TOKEN = re.compile(r'\$?"[^"\n]*"|//.*|\s+|\$?[-+.\w@]+|.', re.ASCII)
ODD_TOKENS = """
    $absent $empty $unset $tensor $none $variadic $list $tuple $dictionary $value( $ints([1]) $bytes("00") $doc("x")
    $block<ios18> $[ $rank(2) $version(2) $"x" $"bool" $99 $10 $ $x [ ] { } ( ) < > , ; = -> ? : nan -nan inf -inf
    0x1p+0 0x1 0x $0x7fc00001 $0x7c01 -0.0 1e400 1e-400 99999999999999999999 -1 +1 01 1. .5 . - [] [[]] [1,] [1],[2] ()
    {{}} {} {{1,2}} // /* */ path offset shape true false _ tensor tensor<fp16,[1]> tensor<fp16,[]> tensor<fp99,[1]>
    fp16 list<int32,2> dict<int32,int32> tuple<> int32(1) int32([1]) int32(x) string("a") string(1) bool(1)
    BLOBFILE(path=string("w"),offset=uint64(64)) BLOBFILE(offset=uint64(64),path=string("w")) fp16(BLOBFILE)
    '"' ' # @ \\ \0 \x0c \xa0 é
    program func ios18 CoreML8 <ios17> (x=x) (x=x,x=x) [a=int32(1)] [a=int32(1),a=int32(2)] [a=fp16(BLOBFILE)]
""".split()
INSIDE = '"[]() $x1\\\n-/*.e@\0,'
"""What a token is broken by."""


def tampered(random: Random, text: str, odd: list[str] = ODD_TOKENS) -> str:
    """Return a text with one to three edits of its tokens; `odd` are those put in."""
    tokens = TOKEN.findall(text) or [""]
    for _ in range(random.randint(1, 3)):
        index, other = random.randrange(len(tokens)), random.randrange(len(tokens))
        edit = random.choice(["drop", "double", "swap", "move", "replace", "insert", "break"])
        if edit == "drop" and len(tokens) > 1:
            del tokens[index]
        elif edit == "double":
            tokens.insert(index, tokens[index])
        elif edit == "swap":
            tokens[index], tokens[other] = tokens[other], tokens[index]
        elif edit == "move":
            tokens.insert(index, tokens[other])
        elif edit == "replace":
            tokens[index] = random.choice(odd)
        elif edit == "insert":
            tokens.insert(index, random.choice(odd))
        else:
            cut = random.randint(0, len(tokens[index]))
            tokens[index] = tokens[index][:cut] + random.choice(INSIDE) + tokens[index][cut:]
    return "".join(tokens)
