"""The public check: the errors and warnings of the verifier, and known faults on request."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from miltext.checking.verifier import found_in
from miltext.diagnostics.arguments import checked
from miltext.models.model import Model
from miltext.rewriting.checking_rules import rule_findings

if TYPE_CHECKING:
    from miltext.containers.sources import Source
    from miltext.diagnostics import Diagnostic


@checked("path", "advisories")
def check(source: Source, *, path: str | None = None, advisories: str | None = None) -> list[Diagnostic]:
    """Return all errors and warnings of MIL text, a Program, a model or the file of a path, in the order of the text.

    A comment such as `// mil: ignore[MIL603]` at the end of a line suppresses findings there. A model that was changed
    in memory is checked as `save` would write it: its description follows the changes of its program.

    Args:
        source: MIL text, a path, a Program or a Model. With a `path`, a string is MIL text.
        path: The path of a text: array files, `$npy("w.npy")`, are read from its folder; without one, there is no
            folder.
        advisories: Also report known faults of Core ML and coremltools that the program meets: "usual" for faults that
            do not depend on one device, "all" for all.

    Returns:
        The findings. Their spans point into the text; for a Program or a model, into the output of `to_text`. Findings
        in the programs of a pipeline have no spans; their messages begin with the places.

    Raises:
        ModelError: The program of a model cannot be read.
        OSError: The file of a path cannot be read.
        ValueError: Another word for `advisories`.

    Example:
        errors = [each for each in miltext.check("Model.mlpackage") if each.severity == "error"]
    """
    from miltext.containers.sources import is_text, model_of, require_source

    require_source(source)
    also = None
    if advisories is not None:
        from miltext.advisories.advising import further

        also = further(advisories)
    if isinstance(source, str) and (path is not None or is_text(source)):
        rules = rule_findings(source, path)
        return found_in(source, path, also) if rules is None else rules
    subject = model_of(source) if isinstance(source, str | PathLike) else source
    rules = rule_findings(subject.text, subject.name) if isinstance(subject, Model) else None
    return found_in(subject, also=also) if rules is None else rules
