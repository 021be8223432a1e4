"""Findings about operations that a profile's rules refuse; one note a function about operations without a rule."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding
from miltext.diagnostics import ModelError, codes
from miltext.diagnostics.wording import listed
from miltext.placement.predicting import answers, known_profile
from miltext.placement.rules import REFUSED, UNKNOWN
from miltext.schema.paths import Key
from miltext.settings.settings import OFF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from miltext.checking.further import Further
    from miltext.placement.predicting import Answer
    from miltext.schema.proto import Program
    from miltext.settings.settings import Settings

MOST_TYPES = 6
"""The most types of unknown operations that a note names."""


@dataclass
class ProfileCheck:
    """The check of programs for a profile; `answers` are those about the last program."""

    profile: str
    answers: Sequence[Answer] = ()

    def __call__(self, program: Program, _: Path | None) -> list[Finding]:
        """Return the findings about a program."""
        self.answers = found = answers(program, self.profile)
        refused = [_refused(each, self.profile) for each in found if each.answer == REFUSED]
        return [*refused, *_unknown(found, self.profile)]


def profile_check(profile: str) -> ProfileCheck:
    """Return the check of programs for a profile. Raise ModelError (MIL891) for an unknown one."""
    return ProfileCheck(known_profile(profile))


def requested_profile(settings: Settings) -> Further | None:
    """Return the check for the profile of a project, if it has one; an unknown one is a finding about each program."""
    if settings.profile == OFF:
        return None
    try:
        return profile_check(settings.profile)
    except ModelError as failure:
        wrong = [Finding((), each.code, f"the setting `profile`: {each.message}") for each in failure.diagnostics]
        return lambda _program, _folder: wrong


def _refused(answer: Answer, profile: str) -> Finding:
    message = f"the Neural Engine does not take this `{answer.type}` ({profile}): {answer.message}"
    return Finding(
        (*answer.path, "type"), codes.NOT_ON_ENGINE, message, severity="warning", notes=(f"way out: {answer.fix}",)
    )


def _unknown(found: Sequence[Answer], profile: str) -> Iterator[Finding]:
    for function in dict.fromkeys(each.function for each in found):
        own = [each for each in found if each.function == function]
        types = Counter(each.type for each in own if each.answer == UNKNOWN)
        if types:
            named = listed([name for name, _ in types.most_common()], "and", MOST_TYPES)
            message = f"{profile} has no rule for {types.total()} of the {len(own)} operations: {named}"
            yield Finding(("functions", Key(function), "key"), codes.UNKNOWN_ON_ENGINE, message, severity="note")
