"""`miltext check --fix` and `--diff`: the suggestions of findings, written into the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.cli.captured import echo
from miltext.cli.habits import option_value
from miltext.cli.streams import fail, tell, unified, write_back, write_text

if TYPE_CHECKING:
    from miltext.checking.contract.fixing import ModelFix
    from miltext.checking.fixing import Mended
    from miltext.checking.verifier import Checked
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model


class Fixing:
    """The fixes of one run: `fixed` counts the suggestions that were applied, or with `diff` would be.

    `written` are the files, `failed` reports a failure to write, `changed` a difference that was shown.
    """

    def __init__(self, *, diff: bool) -> None:
        self.diff = diff
        self.fixed = 0
        self.failed = False
        self.changed = False
        self.written: list[str] = []

    def fix(
        self, model: Model, check: Callable[[Model], Checked], chosen: Callable[[Diagnostic], bool]
    ) -> tuple[list[Diagnostic], str | None]:
        """Fix a model's text as far as possible; return the findings left, and the text of their places."""
        from miltext.checking.fixing import mend
        from miltext.containers.programs import TextModel

        reason = _not_fixable(model)
        if reason is not None:
            if model.path is None:
                fail(f"{option_value('stdin_filename') or 'standard input'}: not fixed: {reason}")
            checked = check(model)
            if any(map(chosen, checked.diagnostics)):
                echo(f"miltext: {model.name}: not fixed: {reason}")
            return checked
        text = model.text or ""
        path = model.path

        def found(text: str) -> list[Diagnostic]:
            return check(TextModel(text.encode(), model.name, path)).diagnostics

        mended = mend(text, found, chosen)
        if self._settled(model, mended):
            self.fixed += mended.applied
            _report_unapplied(model.name, mended)
            return mended.diagnostics, mended.text
        return found(text), text

    def fix_description(self, model: Model, fix: ModelFix, *, unsafe: bool) -> bool:
        """Fix the contradictions between a model's description and its program; return whether its file was written.

        A fix that loses facts of the description is applied only if `unsafe` ones are.
        """
        from miltext.checking.contract.fixing import texts_of, write

        reason = fix.reason or (_listed(fix.losses) if fix.losses and not unsafe else "")
        if reason:
            echo(f"miltext: {model.name}: not fixed: {reason}")
            return False
        if self.diff:
            before, after = texts_of(model, fix)
            write_text("-", unified(model.name, before, after, "fixed"), "diff")
            self.changed = True
            self.fixed += fix.solved
            return False
        try:
            write(fix)
        except OSError as failure:
            echo(f"miltext: {model.name}: not written: {failure.strerror or failure}")
            self.failed = True
            return False
        self.fixed += fix.solved
        self.written.append(str(fix.file))
        for loss in fix.losses:
            tell(f"miltext: {model.name}: {loss}")
        return True

    def _settled(self, model: Model, mended: Mended) -> bool:
        """Show or write a fixed text; return whether that succeeded."""
        before = model.text or ""
        if self.diff:
            write_text("-", unified(model.name, before, mended.text, "fixed"), "diff")
            self.changed |= mended.text != before
        elif model.path is None:
            write_text("-", [mended.text], "mil")
        elif mended.text != before:
            if not write_back(model.name, before, mended.text):
                self.failed = True
                return False
            self.written.append(model.name)
        return True


def _listed(losses: Sequence[str]) -> str:
    return f"{'; '.join(losses)}; --unsafe-fixes does it nevertheless"


def _report_unapplied(name: str, mended: Mended) -> None:
    """Report the suggestions that were not applied, though they were selected."""
    from miltext.checking.fixing import MOST_CHECKS

    if mended.useless is None:
        tell(f"miltext: {name}: stopped after {MOST_CHECKS} checks; run it again for further fixes")
    elif mended.useless:
        what = "1 suggestion was" if mended.useless == 1 else f"{mended.useless} suggestions were"
        tell(f"miltext: {name}: {what} not applied: the text would be no better")


def is_text(model: Model) -> bool:
    """Whether a model was read from a .mil, or from MIL text on standard input."""
    return model.kind == "mil" and model.text is not None


def _not_fixable(model: Model) -> str | None:
    """Return the reason not to fix a model; None for a text."""
    from miltext.files.writing import is_stream
    from miltext.review.sidecar import is_sidecar

    if model.is_compiled:
        return "it is the text of a compiled model; fix a copy, or the source model"
    if not is_text(model):
        return (
            "only a .mil text can be fixed; `miltext print` writes the text of a model, and `miltext build` makes a "
            "model from a text"
        )
    if is_sidecar(model.name):
        return "it is a sidecar, which `miltext sidecar` makes from its model"
    if model.path is not None and is_stream(Path(model.path)):
        return "only a file is written back; `-` stands for standard input and output"
    return None
