"""Arrays that a caller may keep and modify: they share no memory with weights, inputs or other arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.values import State

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried
    from miltext.evaluation.rules import Array


class Owner:
    """Transfers values to a caller, each array once; `borrowed` are arrays with another owner."""

    def __init__(self, borrowed: Iterable[Array] = ()) -> None:
        self._given = {id(array): array for array in borrowed}

    def own(self, value: Carried) -> Carried:
        """Return a value that only the caller owns: the value itself if possible, else a copy."""
        if isinstance(value, State):
            return self.own(value.held)
        if isinstance(value, (list, tuple)):
            return [self.own(each) for each in value]
        if not isinstance(value, np.ndarray):
            return dict(value) if isinstance(value, dict) else value
        if value.dtype.kind == "O":
            return value.astype(np.str_)
        is_alone = value.base is None and value.flags.writeable and id(value) not in self._given
        made = value if is_alone else value.copy()
        self._given[id(made)] = made
        return made
