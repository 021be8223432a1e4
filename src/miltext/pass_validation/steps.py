"""Passes, run one by one on a program of coremltools, each judged by the program before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.pass_validation.allowances import allowance
from miltext.pass_validation.faults import (
    INVALID,
    check_fault,
    interface_fault,
    raised,
    unloadable,
    unwritable,
)
from miltext.pass_validation.runs import numbers_fault
from miltext.pass_validation.snapshots import Snapshot, snapshot
from miltext.pymil.fingerprints import Fingerprint
from miltext.pymil.loading import to_pymil
from miltext.pymil.passes import apply_pass, quiet

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.pass_validation.faults import PassFault
    from miltext.pass_validation.runs import FunctionRuns, Results

SETTLING = ("common::const_elimination", "common::dedup_op_and_var_names")
"""The passes that repair a program between passes: casts in places of constants, and equal names. Both are in the
default pipeline behind each pass that leaves such a program, so that is not a fault.
"""


class Step(NamedTuple):
    """A pass that ran: its fault, the program after it, None if that is equal or cannot be written, and the new results
    of each function without a fault.
    """

    fault: PassFault | None = None
    made: Snapshot | None = None
    results: Sequence[list[Results]] = ()


class Stepping:
    """A model that coremltools has loaded, before any pass.

    `accepted` is the program after the last pass without a fault: a faulty pass is undone. `runs` are the functions
    whose numbers are compared.
    """

    def __init__(self, model: Model) -> None:
        with quiet():
            self._pymil = to_pymil(model)
            self.accepted = snapshot(self._pymil)
        self.runs: list[FunctionRuns] = []
        self._before: Fingerprint | None = None

    def reload(self) -> None:
        """Load the accepted program again; operations without names may get others."""
        self._before = None
        with quiet():
            self._pymil = to_pymil(self.accepted.model)
            self.accepted = snapshot(self._pymil)

    def prepare(self, names: Sequence[str]) -> None:
        """Run passes without judging them. Raise coremltools' own errors."""
        with quiet():
            for name in names:
                apply_pass(self._pymil, name)
            self.accepted = snapshot(self._pymil)

    def run(self, name: str) -> Step:
        """Run a pass and judge it. Raise coremltools' own errors if the program before a faulty pass cannot be loaded
        again.
        """
        step = self.judged(name)
        if step.fault is not None:
            self.reload()
        elif step.made is not None:
            self.accepted = step.made
            for runs, new in zip(self.runs, step.results, strict=True):
                runs.results = new
        return step

    def is_unchanged(self) -> bool:
        """Return whether the program is still the accepted one, number for number. Raise coremltools' own errors."""
        with quiet():
            return snapshot(self._pymil).digest == self.accepted.digest

    def judged(self, name: str) -> Step:
        """Run a pass and judge it, without a decision about it."""
        before, self._before = self._before or Fingerprint(self._pymil), None
        with quiet():
            try:
                apply_pass(self._pymil, name)
            except Exception as failure:  # noqa: BLE001  # passes raise anything
                return Step(raised(failure))
        if Fingerprint(self._pymil) == before:
            self._before = before
            return Step()
        made = self._written()
        if isinstance(made, Snapshot) and made.digest == self.accepted.digest:
            return Step()
        fault = self._structural(name, made)
        if fault is not None and fault.kind == INVALID:
            made = self._settled() or made
            fault = self._structural(name, made)
        if fault is not None or not isinstance(made, Snapshot):
            return Step(fault)
        found: list[list[Results]] = []
        for runs in self.runs:
            fault, new = numbers_fault(self.accepted.model, made.model, runs, allowance(name))
            if fault is not None:
                break
            found.append(new)
        return Step(fault, made, found)

    def _written(self) -> Snapshot | PassFault:
        try:
            with quiet():
                return snapshot(self._pymil)
        except Exception as failure:  # noqa: BLE001  # coremltools raises anything
            return unwritable(failure)

    def _settled(self) -> Snapshot | PassFault | None:
        """Write the program after the passes that repair it; return None if one fails."""
        try:
            with quiet():
                for name in SETTLING:
                    apply_pass(self._pymil, name)
        except Exception:  # noqa: BLE001  # coremltools raises anything
            return None
        return self._written()

    def _structural(self, name: str, made: Snapshot | PassFault) -> PassFault | None:
        """Return the fault of a changed program apart from its numbers."""
        if not isinstance(made, Snapshot):
            return made
        before, after = self.accepted.program, made.program
        fault = check_fault(before, after) or interface_fault(before, after, may_rename=allowance(name).names)
        if fault is None:
            try:
                with quiet():
                    to_pymil(made.model)
            except Exception as failure:  # noqa: BLE001  # coremltools raises anything
                return unloadable(failure)
        return fault
