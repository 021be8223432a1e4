"""The further checks of a file that its project or a command line requests: advisories, and matches of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.further import together
from miltext.settings.settings import OFF

if TYPE_CHECKING:
    from miltext.checking.further import Further
    from miltext.settings.settings import Settings


def requested(settings: Settings, advisories: str | None = None) -> Further | None:
    """Return the further check for a file with some settings; None for none. `advisories` replaces the project's."""
    choice = settings.advisories if advisories is None else advisories
    found: list[Further | None] = []
    if choice != OFF:
        from miltext.advisories.advising import further

        found.append(further(choice))
    if settings.rules:
        from miltext.rewriting.noticing import noticing

        found.append(noticing(settings.rules, settings.root))
    return together(found)
