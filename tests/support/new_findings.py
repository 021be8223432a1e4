"""The law of verbs that write models: `check` of the result reports nothing that the original did not have.

`new_findings` compares the reports of two whole models: description, weights, manifest and program, with warnings and
notes. Findings are counted: two in place of one are a new finding. They are the same if their severity, code and
message are, after the renames of the edit. Where an edit changes sizes or data types, messages state others; there, a
`Subject` stands for the message: the first name in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import NamedTuple

from support.model_checks import Reported, findings


class Subject(NamedTuple):
    """A finding of `check`, with the name that it is about."""

    severity: str
    code: str
    name: str


def subject(found: Reported) -> Subject:
    """Return a finding without what a message states of its name."""
    name = _NAME.search(found.message)
    return Subject(found.severity, found.code, name[1] if name else "")


def whole(found: Reported) -> Reported:
    """Return a finding as it is."""
    return found


def of_any_side(*sides: Counter[Reported]) -> Counter[Reported]:
    """Return the findings that a merge of models with these findings may have."""
    return reduce(or_, sides)


def new_findings(
    before: Counter[Reported],
    model: Path,
    now: Callable[[str], str] = str,
    alike: Callable[[Reported], Reported | Subject] = whole,
) -> Counter[Reported]:
    """Return the findings in a model beyond those `before`.

    `now` returns the new name of a value or feature. Findings are the same if `alike` returns the same of both.
    """
    known = Counter(alike(_renamed(each, now)) for each in before.elements())
    new: Counter[Reported] = Counter()
    for each in findings(model).elements():
        key = alike(each)
        if known[key] > 0:
            known[key] -= 1
        else:
            new[each] += 1
    return new


@cache
def original_findings(model: Path) -> Counter[Reported]:
    """Return the findings in a model that stays as it is, from one run of `check` for all edits of it."""
    return findings(model)


def _renamed(found: Reported, now: Callable[[str], str]) -> Reported:
    return found._replace(message=_NAME.sub(lambda name: f"`{now(name[1])}`", found.message))


_NAME = re.compile("`([^`]*)`")
"""A name in a message."""
