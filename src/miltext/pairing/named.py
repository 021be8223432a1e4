"""Pairs of named parts, such as the functions of two programs: by name, then by contents."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable


def paired_names(
    old: Collection[str],
    new: Collection[str],
    old_contents: Callable[[str], Hashable],
    new_contents: Callable[[str], Hashable],
) -> dict[str, str]:
    """Return the new name of each part that both sides have: the same name, or the name of a part with equal contents.

    The contents are computed only of names that one side alone has.
    """
    names = {name: name for name in old if name in new}
    free: dict[Hashable, list[str]] = defaultdict(list)
    for name in sorted(new, reverse=True):
        if name not in names:
            free[new_contents(name)].append(name)
    for name in sorted(old) if free else ():
        if name not in names and (same := free.get(old_contents(name))):
            names[name] = same.pop()
    return names
