"""Findings about operations that a profile's rules refuse; of operations that no rule knows, one note a function."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding
from miltext.diagnostics import codes
from miltext.diagnostics.wording import listed
from miltext.placement.predicting import answers, known_profile
from miltext.placement.rules import REFUSED, UNKNOWN
from miltext.schema.paths import Key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from miltext.checking.further import Further
    from miltext.placement.predicting import Answer
    from miltext.schema.proto import Program

MOST_TYPES = 6
"""The most types of unknown operations that a note names."""


def profile_check(profile: str) -> Further:
    """Return the check of programs for a profile. Raise ModelError (MIL891) for an unknown one."""
    return partial(_findings, known_profile(profile))


def _findings(profile: str, program: Program, _: Path | None) -> list[Finding]:
    found = answers(program, profile)
    return [*(_refused(each, profile) for each in found if each.answer == REFUSED), *_unknown(found, profile)]


def _refused(answer: Answer, profile: str) -> Finding:
    message = f"the Neural Engine does not take this `{answer.type}` ({profile}): {answer.message}"
    return Finding(
        (*answer.path, "type"), codes.NOT_ON_ENGINE, message, severity="warning", notes=(f"way out: {answer.fix}",)
    )


def _unknown(found: list[Answer], profile: str) -> Iterator[Finding]:
    for function in dict.fromkeys(each.function for each in found):
        own = [each for each in found if each.function == function]
        types = Counter(each.type for each in own if each.answer == UNKNOWN)
        if types:
            named = listed([name for name, _ in types.most_common()], "and", MOST_TYPES)
            message = f"{profile} has no rule for {types.total()} of the {len(own)} operations: {named}"
            yield Finding(("functions", Key(function), "key"), codes.UNKNOWN_ON_ENGINE, message, severity="note")
