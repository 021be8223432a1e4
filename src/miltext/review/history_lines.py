"""The entries of a history as lines for people, and as data for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics import codes, render, visible
from miltext.diagnostics.option_words import of_command
from miltext.diagnostics.wording import tally
from miltext.diffing.one_line import one_line
from miltext.diffing.telling import in_bytes
from miltext.review.history import ADDED, REMOVED
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.diagnostics import MiltextError
    from miltext.diagnostics.dynamic import Record
    from miltext.review.history import HistoryEntry, ModelFacts

NOT_HERE = "model not here: git-lfs has not fetched it"
"""The words for a model whose file is a git-lfs pointer."""


def history_line(entry: HistoryEntry, name_of: Callable[[str], str], color: bool) -> str:
    """Return the name, date and subject of a commit, and the change in words; `name_of` returns a path for people."""
    commit = entry.commit
    short = f"\x1b[33m{commit.short}\x1b[0m" if color else commit.short
    words = of_command(entry_words(entry, name_of))
    return f"{short} {commit.date[:10]} {visible(commit.subject)} | {visible(words)}\n"


def entry_words(entry: HistoryEntry, name_of: Callable[[str], str]) -> str:
    """Return the change of a model in a commit, in words."""
    if entry.problem is not None:
        return _problem(entry.problem)
    if entry.status == REMOVED:
        return "removed" if entry.moved_to is None else f"renamed to `{name_of(entry.moved_to)}`"
    if entry.status == ADDED:
        assert entry.facts is not None
        when = "the clone begins here" if entry.is_cut else "first version" if entry.is_first else "added again"
        return f"{when}: {_facts(entry.facts)}"
    assert entry.difference is not None
    words = [one_line(entry.difference)]
    if entry.old_path is not None and entry.old_path != entry.path:
        words = [f"renamed from `{name_of(entry.old_path)}`", *(words if entry.difference.same is not True else [])]
    return ", ".join(words)


def _problem(problem: MiltextError) -> str:
    if problem.diagnostics[0].code == codes.LFS_POINTER_OF_MODEL:
        return NOT_HERE
    head = render(problem.diagnostics[0], problem.text, problem.path).splitlines()[0]
    return f"not readable: {head}"


def _facts(facts: ModelFacts) -> str:
    """Return `2,971 operations, 213 MB`."""
    found = [f"{facts.type} of {tally(facts.models, 'model')}"] if facts.models else []
    found += [facts.type] if not facts.models and facts.type != PROGRAM else []
    if facts.operations or facts.type == PROGRAM:
        found += [f"{facts.operations:,} operation{'s' * (facts.operations != 1)}", in_bytes(facts.bytes)]
    return ", ".join(found)


def entry_record(entry: HistoryEntry, name_of: Callable[[str], str]) -> Record:
    """Return an entry as JSON data: the change in words, the summary of its difference, and the facts of its model."""
    commit, found = entry.commit, entry.difference
    return {
        "commit": commit.name,
        "parent": commit.parent,
        "date": commit.date,
        "author": commit.author,
        "subject": commit.subject,
        "path": entry.path,
        "oldPath": entry.old_path,
        "movedTo": entry.moved_to,
        "status": entry.status,
        "same": None if found is None else found.same,
        "words": of_command(entry_words(entry, name_of)),
        "summary": None if found is None else found.to_json()["summary"],
        "facts": None if entry.facts is None else entry.facts._asdict(),
    }
