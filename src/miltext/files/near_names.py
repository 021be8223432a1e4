"""The likely meant path for a mistyped one."""

from __future__ import annotations

import os

from miltext.diagnostics.suggestions import nearest

_MOST = 2000
"""How many names of a folder are compared."""


def near_path(path: str) -> str | None:
    """Return the path of an existing file or folder whose name is most similar to a missing one's; None if no name
    beside it is similar.
    """
    folder, name = os.path.split(path.rstrip("/" + os.sep))
    try:
        with os.scandir(folder or ".") as entries:
            names = sorted(entry.name for entry, _ in zip(entries, range(_MOST), strict=False))
    except (OSError, ValueError):
        return None
    near = nearest(name, (each for each in names if each.isprintable()))
    return None if near is None else os.path.join(folder, near)
