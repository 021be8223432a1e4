"""The Draft: a text that may leave out types and values, and the whole text that it is completed to."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.drafts import draft_notice, draft_types, marker_of
from miltext.checking.findings import in_order, located
from miltext.checking.ignores import GAPS, without_ignored
from miltext.checking.retyping import retype
from miltext.checking.verifier import beside, check_read, check_text, errors_in, folder_of, found_in, without_defaults
from miltext.containers.programs import TextModel
from miltext.diagnostics import MiltextError, ParseError, codes
from miltext.diagnostics.arguments import checked
from miltext.parsing.diagnosing import OF_DRAFTS
from miltext.parsing.parser import require_text
from miltext.parsing.recovery import recover
from miltext.parsing.rule_texts import has_rules
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from miltext.checking.draft_types import DraftTypes
    from miltext.checking.retyping import Inputs, Retyped
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.parsing.recovery import Recovered
    from miltext.schema.proto import Program
    from miltext.syntax.editing import EditedText


class Draft:
    """A text that may leave out types and values: as it was written, as it was read, and completed.

    `path` is its name in errors, and the arrays that it names are looked for beside it. The `asked` parts besides types
    are some of DRAFT_WORDS. All diagnostics have places in the written text.
    """

    def __init__(self, text: str, path: str | None = None, asked: Collection[str] = ()) -> None:
        self.text = text
        self.path = path
        self.asked = asked
        self._steps: list[EditedText] = []
        self._has_marker = False
        self._source: Model | None = None

    @classmethod
    def of(cls, source: Model) -> Draft:
        """Return the text of a model as a draft."""
        draft = cls(source.text or "", source.name)
        draft._source = source
        return draft

    @classmethod
    def behind(cls, failure: ParseError, source: Model) -> Draft | None:
        """Return the draft if a model cannot be parsed because its text is a draft, perhaps with other errors; None
        otherwise.

        A text without errors is not read again for this.
        """
        if source.kind != "mil" or failure.text != source.text:
            return None
        draft = cls.of(source)
        return draft if failure.diagnostics[0].code in OF_DRAFTS or draft_notice(draft.read) else None

    @cached_property
    def read(self) -> Recovered:
        """The text, read past its errors, in the long spelling, with its Program."""
        return recover(self.text)

    @cached_property
    def types(self) -> DraftTypes:
        """The inferred types, which are also in the Program of `read`."""
        return draft_types(self.read, beside(self.text, folder_of(self.path)))

    def retyped(self, inputs: Inputs | None = None, weights: Path | None = None) -> Retyped:
        """Return the text with its types of outputs inferred anew, as `retype` does."""
        return retype(self.read, self.text, beside(self.text, folder_of(self.path)), inputs, weights)

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """The findings of `check`, except that it is a draft.

        The texts that the draft is completed to are kept from the check, with their places; its Program and its tree
        are not, for they take many times the memory.
        """
        checked = check_text(self.text, self.path, keep=False)
        read, types = checked.read, checked.types
        found = [each for each in checked.diagnostics if each.code != codes.DRAFT]
        found = without_defaults(found) if "defaults" in self.asked else found
        if read is not None and types is not None and not errors_in(found):
            self._steps = [*([read.elaborated] if read.elaborated else []), types.written()]
            self._has_marker = marker_of(read.root) is not None
        return found

    @property
    def findings(self) -> list[Diagnostic]:
        """The diagnostics of a completed draft: types are inferred, and omitted values are looked for."""
        return [each for each in self.diagnostics if each.severity == "error" or each.code not in GAPS]

    @cached_property
    def whole(self) -> str | None:
        """The text with its types, as its author laid it out; None for a wrong draft. Raise ParseError for errors that
        only the whole text has.
        """
        return self._completed()

    @with_room
    def _completed(self) -> str | None:
        from miltext.checking.spelled_out import spelled_out

        if errors_in(self.diagnostics):
            return None
        typed = self._steps[-1].text if self._steps else self.text
        if (self.asked or self._has_marker) and (more := spelled_out(typed, self.asked)):
            self._steps.append(more)
        if not self._steps:
            return self.text
        whole = self._steps[-1].text
        if left := errors_in(without_ignored(self.text, self.relocated(errors_in(found_in(whole, path=self.path))))):
            raise ParseError(left, text=self.text, path=self.path)
        return whole

    @with_room
    def laid_out(self) -> str | None:
        """Return the whole text in the canonical layout. Raise MiltextError if that cannot be proved to be equal."""
        from miltext.formatting.document import keep_line_ends
        from miltext.formatting.formatter import verified_format

        return None if self.whole is None else keep_line_ends(self.text, verified_format(self.whole, path=self.path))

    @cached_property
    def model(self) -> TextModel:
        """The whole text as a model. Raise ParseError with all findings for a wrong draft."""
        if self.whole is None:
            raise ParseError(self.findings, text=self.text, path=self.path)
        model = TextModel(self.whole.encode(), self.path or "", self._source.path if self._source else None)
        model.model_path = self._source.model_path if self._source else None
        return model

    def relocated(self, found: list[Diagnostic]) -> list[Diagnostic]:
        """Return diagnostics of the whole text, with places in the draft."""
        for step in reversed(self._steps):
            found = step.relocated(found)
        return found

    def relocating(self) -> AbstractContextManager[None]:
        """Report errors that a `with` block finds in the whole text at their places in the draft."""
        return _relocating_in(self.text, self.whole, self.relocated)


@contextmanager
def _relocating_in(
    text: str, whole: str | None, relocated: Callable[[list[Diagnostic]], Iterable[Diagnostic]]
) -> Iterator[None]:
    """Report errors that a `with` block finds in the `whole` text at their places in the original text."""
    try:
        yield
    except MiltextError as failure:
        if failure.text == whole:
            failure.diagnostics, failure.text = [*relocated(failure.diagnostics)], text
        raise


class Completed(NamedTuple):
    """A draft with its types, None for a wrong draft; and the findings in the draft."""

    text: str | None
    diagnostics: list[Diagnostic]


@with_room
@checked("path", "all", "names", "consts", "defaults")
def infer_draft(
    text: str,
    *,
    path: str | None = None,
    all: bool = False,
    names: bool = False,
    consts: bool = False,
    defaults: bool = False,
) -> str:
    """Return the canonical MIL text of a draft, with the types that it leaves out; comments, numbers, line ends stay.

    A text without omissions is only laid out. The marker in a text's head, `$draft(names, consts, defaults)`, requests
    the same as the arguments of these names.

    Args:
        text: A draft.
        path: The name that errors show; the arrays that the text names, `$npy("w.npy")`, are looked for beside it.
        all: Whether the stated types of outputs are inferred anew, and kept only where none can be inferred.
        names: Whether each operation gets the attribute `name`.
        consts: Whether each literal argument becomes an operation `const` before its operation.
        defaults: Whether defaults are written out.

    Returns:
        The whole text.

    Raises:
        ParseError: All errors that `check` finds.
        MiltextError: The layout cannot be proved to have the same meaning.

    Example:
        text = miltext.infer_draft(open("draft.mil").read(), names=True)
    """
    require_text(text)
    options = {"names": names, "consts": consts, "defaults": defaults}
    asked = [word for word, is_asked in options.items() if is_asked]
    whole, found = complete_anew(text, path, asked) if all else complete(text, path, asked)
    if whole is None:
        raise ParseError(errors_in(found), text=text, path=path)
    return whole


@with_room
def complete(text: str, path: str | None = None, asked: Collection[str] = ()) -> Completed:
    """Complete a draft as `infer_draft` does, with all findings of `check` except that it is a draft.

    The `asked` parts besides types are some of DRAFT_WORDS.
    """
    draft = Draft(text, path, asked)
    return Completed(draft.laid_out(), draft.diagnostics)


@with_room
def complete_anew(text: str, path: str | None = None, asked: Collection[str] = ()) -> Completed:
    """Complete a text as `complete` does, with all types of outputs that follow inferred anew."""
    retyped = Draft(text, path).retyped()
    with _relocating_in(text, retyped.written.text, retyped.written.relocated):
        whole, found = complete(retyped.written.text, path, asked)
    return Completed(whole, _found_anew(retyped, found))


@with_room
def infer_anew(text: str, path: str | None, ask: Callable[[Program], Inputs], weights: Path | None = None) -> Completed:
    """Infer the types of outputs that a text states anew; its layout and its omissions stay.

    `ask` returns the new types of its Program's inputs, and constants that follow from their sizes are written anew;
    constants in weight files are in the folder `weights`. The result may have errors; it is None where an error
    prevents inference.
    """
    draft = Draft(text, path)
    if draft.read.program is None or has_rules(draft.read) or errors_in(draft.read.diagnostics):
        return Completed(None, found_in(text, path=path))
    retyped = draft.retyped(ask(draft.read.program), weights)
    made = retyped.written.text
    return Completed(None if retyped.types.open else made, _found_anew(retyped, found_in(made, path=path)))


def _found_anew(retyped: Retyped, found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the findings in a text with types inferred anew, at their places in the original text.

    Errors name the constants to change, if they were made for other sizes.
    """
    read = retyped.read
    kept = read.relocated(located(retyped.kept, read.root) if read.root is not None else [])
    explained = check_read(read, retyped.types, retyped.arrays, retyped.baked).diagnostics if errors_in(found) else []
    return in_order([*kept, *(explained if errors_in(explained) else retyped.written.relocated(found))])
