"""The result of a validation of passes: a report of each fault, as text and as JSON."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from miltext.diagnostics.plain import plain
from miltext.diagnostics.wording import tally
from miltext.printing.printing import to_text
from miltext.reduction.graph import count_operations
from miltext.schema.walk import is_constant, operations
from miltext.weight_files.model_weights import BlobFolder
from miltext.weight_files.printing import inline_weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miltext.diagnostics.dynamic import Record
    from miltext.evaluation.carried import Carried, Named
    from miltext.pass_validation.reducing import Shown
    from miltext.schema.proto import Program

FORM = 1
"""The version of the JSON form, which docs/validate-passes.md describes; it changes when readers would break."""

PRODUCERS = ("coremltools", "numpy", "miltext")
"""The packages whose versions are in a result."""


@dataclass(frozen=True)
class PassReport:
    """A fault of a pass, with a small program that shows it.

    `kind` is `raised`, `invalid`, `interface` or `numbers`. `place` is the number of the pass in the pipeline, from 0,
    and `earlier` are passes that must run before it on the program. `inputs` are the arrays that show other numbers in
    the `function`, and `before` and `after` the values of the outputs or states that differ, by name. `program` shows
    the fault, and `text` is its text, with the weights in it. `confirmed` is true if coremltools itself shows the
    fault, and `confirmation` states how, or why not. `is_reduced` is false for the whole program.
    """

    pass_name: str
    place: int
    kind: str
    message: str
    program: Program = field(repr=False)
    text: str = field(repr=False)
    function: str
    confirmed: bool
    confirmation: str
    is_reduced: bool
    inputs: Named = field(repr=False)
    before: Named = field(repr=False)
    after: Named = field(repr=False)
    earlier: tuple[str, ...] = ()

    @property
    def op_types(self) -> tuple[str, ...]:
        """The types of the operations of the program in order, without constants."""
        return tuple(each.type for _, each in operations(self.program) if not is_constant(each.type))

    def to_text(self) -> str:
        """Return the report for people: the fault, the inputs that show it, and the program."""
        size = tally(count_operations(self.program), "operation")
        certain = "confirmed" if self.confirmed else "not confirmed"
        lines = [f"{self.pass_name}: {self.kind}: {self.message}", f"  {certain}: {self.confirmation}"]
        if self.earlier:
            lines.append(f"  after {', '.join(self.earlier)}")
        lines += [f"  input {name} = {_shown(array)}" for name, array in self.inputs.items()]
        lines += [f"  before: {name} = {_shown(array)}" for name, array in self.before.items()]
        lines += [f"  after:  {name} = {_shown(array)}" for name, array in self.after.items()]
        lines.append(f"  the program, of {size}{'' if self.is_reduced else ', not reduced'}:")
        lines += [f"    {line}".rstrip() for line in self.text.splitlines()]
        return "\n".join(lines) + "\n"

    def to_json(self) -> Record:
        """Return everything but the Program, for `json.dumps`: arrays as lists, with NaN and infinities as strings."""
        names = ("place", "kind", "message", "function", "confirmed", "confirmation", "is_reduced", "earlier", "text")
        arrays = {name: _lists(getattr(self, name)) for name in ("inputs", "before", "after")}
        facts = {name: plain(getattr(self, name)) for name in names}
        return {"pass": self.pass_name, **facts, "operations": list(self.op_types), **arrays}


@dataclass(frozen=True)
class PassValidation:
    """The result of `miltext.coreml.validate_passes`: true if a pass has a fault.

    `reports` are the faults in the order of the passes, and `changing` the passes that changed the program without a
    fault. `not_loaded` is the error of coremltools' loader, for a program that it cannot load, or that it cannot load
    again after writing it: then no pass ran. `notes` are about functions whose numbers were not compared, or that the
    loader changed. `versions` are the versions of the packages, by name.
    """

    versions: Mapping[str, str]
    reports: tuple[PassReport, ...] = ()
    changing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    not_loaded: str = ""

    def __bool__(self) -> bool:
        """Return whether a pass has a fault."""
        return bool(self.reports)

    def __repr__(self) -> str:
        found = f"{tally(len(self.reports), 'fault')} of passes" if not self.not_loaded else "not loaded"
        return f"<PassValidation: {found}>"

    def to_text(self) -> str:
        """Return the result for people."""
        producers = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        if self.not_loaded:
            return f"not loaded: {self.not_loaded}\n{producers}\n"
        confirmed = sum(each.confirmed for each in self.reports)
        count = f"{tally(len(self.reports), 'fault')}, {confirmed} confirmed" if self.reports else "no fault"
        head = f"{count}; other passes that changed the program: {len(self.changing)}"
        parts = [each.to_text() for each in self.reports]
        return "\n".join([*parts, *(f"note: {each}" for each in self.notes), f"{head}", producers]) + "\n"

    def to_json(self) -> Record:
        """Return everything, for `json.dumps`."""
        return {
            "form": FORM,
            "versions": dict(self.versions),
            "not_loaded": self.not_loaded or None,
            "reports": [each.to_json() for each in self.reports],
            "changing": list(self.changing),
            "notes": list(self.notes),
        }


def report(name: str, place: int, shown: Shown) -> PassReport:
    """Return the report of a pass with a fault that a program shows."""
    fault, program = shown.fault, shown.before.program
    return PassReport(
        pass_name=name,
        place=place,
        kind=fault.kind,
        message=fault.message,
        program=program,
        text=to_text(inline_weights(program, BlobFolder(shown.before.folder))),
        function=fault.function,
        confirmed=shown.confirmation.is_confirmed is True,
        confirmation=shown.confirmation.reason,
        is_reduced=shown.is_reduced,
        inputs=fault.inputs,
        before=fault.before,
        after=fault.after,
        earlier=shown.earlier,
    )


def versions() -> dict[str, str]:
    """Return the versions of the packages that take part, and of Python."""
    return {**{name: version(name) for name in PRODUCERS}, "Python": platform.python_version()}


def _shown(value: Carried) -> str:
    array = np.asarray(value)
    return f"{array.dtype.name} {list(array.shape)} {array.tolist()}"


def _lists(arrays: Named) -> Record:
    return {name: plain(np.asarray(value).tolist()) for name, value in arrays.items()}
