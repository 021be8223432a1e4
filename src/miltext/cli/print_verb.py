"""`miltext print`: a model's program as MIL text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import format_options
from miltext.cli.progress import Progress, weights_bar
from miltext.cli.streams import (
    STATUSES,
    OptionalNumbers,
    compiled_text,
    model_argument,
    naming_failures,
    nested_option,
    open_whole,
    output_option,
    show,
    show_strict_findings,
    write_text,
)
from miltext.diagnostics import Diagnostic, Note, PrintError, codes, error, warning
from miltext.diagnostics.wording import tally
from miltext.dumps.recognition import is_dump
from miltext.models.model import Stage
from miltext.models.outputs import kind_of_name
from miltext.printing.printing import pieces
from miltext.printing.tensors import Style

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen
    from miltext.files.refusals import WeightsError
    from miltext.models.model import Model
    from miltext.placement.annotating import AnnotatedText
    from miltext.schema.proto import Program, Value

EPILOG = """\b
Examples:
  miltext print Model.mlpackage
  miltext print Model.mlmodelc --dialect 1.0 -o model.mil
  miltext print Model.mlpackage --elide 16 | less
  miltext print Model.mlpackage --annotate                  # facts about the weights
  miltext print Model.mlpackage --as-coremlc | sed -n 7p    # the line of `model.mil:7:12`
  miltext print Model.mlpackage --compact | less
  miltext print Model.mlpackage --outline                   # scopes and repeats, on one screen
  miltext print Model.mlpackage --draft --drop-names | less # for people to edit
  miltext print Model.mlpackage --weights-as b.bin          # to join the text with another model's
  miltext print Model.mlpackage --html -o model.html
  miltext print Model.mlpackage --placement --profile ane-m4-macos27   # operations that the Neural Engine takes
  miltext print Pipeline.mlpackage -o texts                 # texts/0-head.mil, texts/1-tail.mil, ...
  miltext print Pipeline.mlpackage --model 1 -o tail.mil
  git show HEAD:model.mlmodel | miltext print
"""


HTML = "html"
ON_TERMINAL = 64
"""The most elements of a literal on a terminal, without options."""

_WITH_DRAFT = (
    "--draft can be combined only with --drop-names, --dialect, --floats, --elide, --inline-weights and --weights-as"
)
_WITH_COREMLC = "--as-coremlc cannot be combined with --dialect, --floats, --elide or --annotate: the compiler decides"


_WAYS = {
    codes.VALUE_IN_ARRAY_FILE: Note(
        "`miltext infer` writes the completed text, with the names of its arrays; `--inline-weights` prints their "
        "numbers, and `--compact` their digests"
    ),
    codes.IMPORT_IN_TEXT: Note(
        "`miltext infer` writes the completed text, with its imports; `--inline-weights` prints the operations of the "
        "imported models with their numbers, and `--compact` with digests"
    ),
    codes.NOT_APPLE_SYNTAX: Note("print without `--as-coremlc` and `--strict`: miltext's own spellings can express it"),
}
"""The ways out of some errors of printing, by their codes."""


@click.command("print", cls=OptionalNumbers, epilog=EPILOG + STATUSES)
@model_argument
@output_option("Write to FILE instead of standard output; as a page to an .html.")
@click.option(
    "--dialect", type=click.Choice(["1.0", "1.3"]), default="1.3", show_default=True, help="The version of MIL text."
)
@click.option(
    "--floats",
    type=click.Choice(["hex", "decimal"]),
    help="The form of floats. [hex; decimal with --compact and --draft]",
)
@click.option("--elide", type=click.IntRange(min=0), metavar="N", help="Leave out literals of more than N elements.")
@click.option("--compact", is_flag=True, help="For reading: constants at their use, weights as digests; not lossless.")
@click.option(
    "--outline", is_flag=True, help="Print the scopes with the types of their operations, repeated ones once; no text."
)
@click.option("--draft", is_flag=True, help="Print a draft, without parts that `miltext infer` restores.")
@click.option(
    "--drop-names",
    is_flag=True,
    help="With --draft: nest operations used once; `miltext infer` then chooses other names.",
)
@format_options(
    "text",
    "html",
    default=None,
    help="MIL text, or an HTML page: linked values, folding blocks, a find box, and a graph of the operations.  [text; "
    "or html for a FILE that ends in .html]",
)
@click.option("--as-coremlc", is_flag=True, help="Print the model.mil that Apple's compiler would write.")
@click.option(
    "--strict", is_flag=True, help="Refuse constructs outside Apple's syntax, and warn about unproven constructs."
)
@click.option("--verify-roundtrip", is_flag=True, help="Prove that the text reads back as the same Program.")
@click.option(
    "--inline-weights",
    type=click.IntRange(min=0),
    is_flag=False,
    flag_value=sys.maxsize,
    metavar="MAX",
    help="Write the values of weights into the text; with MAX, only of weights with no more than MAX elements.",
)
@click.option(
    "--weights-as",
    multiple=True,
    metavar="[OLD=]NEW",
    help="Rename the weight file in the text, to join it with another model's text.",
)
@click.option("--annotate", is_flag=True, help="End each weight's line with a comment: digest, min, max and mean.")
@click.option(
    "--placement",
    is_flag=True,
    help="End each operation with a comment: the backend of a dump, or the answer of --profile.",
)
@click.option(
    "--profile", metavar="NAME", help="The profile for --placement of a model; `miltext check --profile list`."
)
@nested_option()
def command(model: str, output: str, nested: str | None, form: str | None, **options: Chosen) -> None:
    """Print MODEL's program as MIL text that reads back as the same Program.

    MODEL is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb; `-` or nothing, in a pipe, is standard input. A
    draft is completed first; `miltext infer` also keeps its comments.

    For a pipeline, each ML Program is printed after a comment with its name, for reading: several programs are not one
    MIL text. With -o and a folder, each is a text in a separate file; a file can hold the text of a single program.
    With --model, only that program is printed.
    """
    style = {name: options.pop(name) for name in ("dialect", "elide", "strict")}
    floats = options.pop("floats") or ("decimal" if options["compact"] or options["draft"] else "hex")
    html = form == HTML or (form is None and kind_of_name(output) == HTML)
    chosen = PrintForm(style=Style(floats=floats, **style), html=html, **options)
    chosen.refuse_unclear()
    printed = chosen.for_terminal() if output == "-" and sys.stdout.isatty() else chosen
    _print(open_whole(model), nested, printed, output, model)


def _print(whole: Model, nested: str | None, form: PrintForm, output: str, model: str) -> None:
    """Write a program, or the programs of a pipeline; or a dump of the runtime."""
    with naming_failures(whole.name, _WAYS):
        if whole.kind == "mil" and is_dump(whole.text or ""):
            write_text(output, form.of_dump(whole), form.kind, model)
            return
        if form.placement and form.profile is None:
            raise click.UsageError("a model has no backends by itself: name a --profile, or print a dump")
        if nested is None and whole.models:
            from miltext.cli.pipeline_texts import one_after_another, program_stages, write_texts

            stages = program_stages(whole)
            if form.outline:
                write_text(output, one_after_another(whole, form.text), form.kind, model)
            else:
                write_texts(whole, form.with_names(stages).text, output, form.kind, model)
            return
        chosen = whole.select(nested)
        _ = chosen.text  # a bundle without its text fails here, before the output is opened
        stage = Stage("", form.readable(chosen))
        write_text(output, form.with_names([stage]).text(stage), form.kind, model)


@dataclass(frozen=True)
class PrintForm:
    """The output form of programs: the options, whose help describes each.

    `names` are the new names of weight files, by the old ones, from `weights_as`. `is_cut` if long literals are left
    out without a request.
    """

    style: Style
    compact: bool
    draft: bool
    drop_names: bool
    html: bool
    as_coremlc: bool
    verify_roundtrip: bool
    inline_weights: int | None
    weights_as: tuple[str, ...]
    annotate: bool
    placement: bool = False
    profile: str | None = None
    outline: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    is_cut: bool = False

    @property
    def kind(self) -> str:
        """The kind of the output, in the words of `miltext.models.outputs`."""
        return "outline" if self.outline else "html" if self.html else "mil"

    def refuse_unclear(self) -> None:
        """Refuse options that do not go together. Raise UsageError."""
        if self.outline and replace(self, outline=False) != _PLAIN:
            raise click.UsageError("--outline can be combined only with --model and -o, since it is not a program text")
        proven = self.as_coremlc or self.verify_roundtrip or self.annotate or self.style.strict
        if (self.draft or self.drop_names) and (not self.draft or self.compact or self.html or proven):
            raise click.UsageError(_WITH_DRAFT if self.draft else "--drop-names is for drafts: add --draft")
        if self.profile is not None and self._beside_profile() != _PLAIN:
            raise click.UsageError("--profile can be combined only with --placement, --html, --dialect and --floats")
        if self.weights_as and (self.annotate or self.as_coremlc):
            raise click.UsageError("--weights-as cannot be combined with --annotate and --as-coremlc")
        if (self.compact or self.html) and (proven or self.inline_weights is not None or self.weights_as):
            raise click.UsageError("--compact and --html can be combined only with --dialect, --floats and --elide")
        if self.as_coremlc and (self.annotate or self.style != Style(strict=self.style.strict)):
            raise click.UsageError(_WITH_COREMLC)

    def _beside_profile(self) -> PrintForm:
        """Return the form without the parts that need a profile."""
        style = self.style._replace(dialect="1.3", floats="hex")
        return replace(self, placement=False, profile=None, html=False, style=style)

    def for_terminal(self) -> PrintForm:
        """Return the form for people at a terminal, without long literals, unless an option requests all."""
        is_proven = self.as_coremlc or self.verify_roundtrip or self.style.strict
        if (
            self.outline
            or self.style.elide is not None
            or is_proven
            or self.html
            or self.compact
            or self.inline_weights is not None
        ):
            return self
        return replace(self, style=self.style._replace(elide=ON_TERMINAL), is_cut=True)

    def readable(self, model: Model) -> Model:
        """Return a model whose program can be printed: a draft is completed.

        Arrays in files are read for a form that shows numbers or digests; the text in any other form would have to name
        a weight file that does not exist. Raise ParseError.
        """
        from miltext.drafting.programs import completed, outlined, with_program

        if self.outline:
            return outlined(model)
        shows_numbers = self.compact or self.inline_weights == sys.maxsize
        return completed(model) if shows_numbers else with_program(model)

    def with_names(self, stages: Sequence[Stage]) -> PrintForm:
        """Return the form with the new names of weight files, which are looked up in all programs together."""
        if not self.weights_as:
            return self
        from miltext.cli.weight_names import read_names

        programs = [_program(stage.model, self.inline_weights) for stage in stages]
        return replace(self, names=read_names(programs, self.weights_as))

    def of_dump(self, dump: Model) -> Iterable[str]:
        """Return a dump in canonical layout, or as a page. Raise UsageError for the form of a Program.

        A page has the placement of each operation beside it, as the text has on request.
        """
        style = Style() if self.is_cut else self.style
        if replace(self, html=False, placement=False, is_cut=False, style=style) != _PLAIN:
            raise click.UsageError(_WITH_DUMP)
        if not (self.html or self.placement):
            from miltext.formatting.formatter import format_text

            return [format_text(dump.text or "", path=dump.name)]
        from miltext.placement.annotating import annotated_dump

        return [_with_comments(annotated_dump(dump.text or "", dump.name), dump, dump.name if self.html else None)]

    def text(self, stage: Stage) -> Iterable[str]:
        """Return the text of a program, in pieces, and show its warnings."""
        made = self._pieces(stage)
        return _with_note(made, stage) if self.is_cut else made

    def _pieces(self, stage: Stage) -> Iterable[str]:
        model = stage.model
        if self.outline:
            from miltext.scopes.outline import outline_lines

            return [f"{line}\n" for line in outline_lines(model.program)]
        if self.profile is not None:
            return _with_answers(model, self.style, self.profile, stage.short_name if self.html else None)
        if self.compact or self.html:
            return _for_reading(stage, self.compact, self.html, self.style)
        program = _program(model, self.inline_weights, self.names)
        if self.draft:
            return [_draft(stage, program, self.style, self.drop_names)]
        if self.as_coremlc:
            printed: Iterable[str] = [compiled_text(model, program)]
        else:
            printed = _annotated(model, program, self.style) if self.annotate else pieces(program, self.style)
        if not (self.verify_roundtrip or self.style.strict):
            return printed
        return [_shown_to_hold("".join(printed), program, stage, strict=self.style.strict, prove=self.verify_roundtrip)]


_PLAIN = PrintForm(
    style=Style(),
    compact=False,
    draft=False,
    drop_names=False,
    html=False,
    as_coremlc=False,
    verify_roundtrip=False,
    inline_weights=None,
    weights_as=(),
    annotate=False,
)
"""The form without options."""

_WITH_DUMP = "a dump of the Core ML runtime is printed as it is: leave out all options but --placement, --html and -o"


def _with_answers(model: Model, style: Style, profile: str, page_name: str | None) -> Iterable[str]:
    """Return the text, with the answer of a profile beside each operation; as a page if it has a name."""
    from miltext.placement.annotating import annotated_program

    annotated = annotated_program("".join(pieces(model.program, style)), model.program, profile)
    return [_with_comments(annotated, model, page_name)]


def _with_comments(annotated: AnnotatedText, model: Model, page_name: str | None) -> str:
    """Return a text with comments about its operations; as a page if it has a name."""
    if page_name is None:
        return annotated.spelled()
    from miltext.printing.html_page import page_of
    from miltext.printing.reading import TextReader
    from miltext.scopes.html_outline import outline_html
    from miltext.weight_files.page_weights import PageWeights

    reader = TextReader(annotated.text, annotated.tree.root, annotated.comments)
    return page_of(reader, page_name, PageWeights(model.model_path, {}), outline_html)


def _program(model: Model, inline_weights: int | None, names: Mapping[str, str] | None = None) -> Program:
    """Return the model's program, with the values of weights of at most that many elements in it, and other names for
    weight files.
    """
    program = model.program if inline_weights is None else _with_weights(model, inline_weights)
    if not names:
        return program
    from miltext.cli.weight_names import with_weights_as

    return with_weights_as(program, names)


def _with_weights(model: Model, most: int) -> Program:
    """Return the model's program with the values of weights of at most that many elements in it."""
    from miltext.weight_files.model_weights import BlobFolder
    from miltext.weight_files.printing import inline_weights

    return inline_weights(model.program, BlobFolder(model.model_path), most)


def _annotated(model: Model, program: Program, style: Style) -> list[str]:
    """Return the text with facts about the weights, complete before any is written: a bar and a pager share the
    terminal.
    """
    from miltext.weight_files.model_weights import BlobFolder
    from miltext.weight_files.printing import annotated_pieces

    with weights_bar("reading weights", model, passes=2) as progress:
        return list(annotated_pieces(program, BlobFolder(model.model_path, progress.add), style))


def _with_note(printed: Iterable[str], stage: Stage) -> Iterator[str]:
    """Yield the pieces of a text, and then show how to print the literals that it lacks, if there are any."""
    left_out = 0
    for piece in printed:
        left_out += piece.count("$elided(")
        yield piece
    if left_out:
        count = f"{tally(left_out, 'literal')} of more than {ON_TERMINAL} elements"
        message = f"{count} {'is' if left_out == 1 else 'are'} left out on this terminal"
        way = Note("`-o FILE` and a pipe get all of them, and `--elide N` literals of up to N elements")
        show([Diagnostic("note", codes.ELIDED_LITERAL, message, None, (way,))], None, stage.name)


def _for_reading(stage: Stage, compact: bool, html: bool, style: Style) -> Iterable[str]:
    """Return the compact text, or a page of the compact or the usual text."""
    if not html:
        return _compact(stage, style)
    from miltext.printing.html_page import page
    from miltext.scopes.html_outline import outline_html
    from miltext.weight_files.page_weights import PageWeights

    elided: dict[str, Value] = {}
    text = "".join(_compact(stage, style, elided) if compact else _plain(stage, style, elided))
    with Progress("reading weights") as progress:
        read = PageWeights(stage.model.model_path, elided, progress.expect, progress.add)
        return [page(text, stage.short_name, read, outline_html)]


def _plain(stage: Stage, style: Style, elided: dict[str, Value]) -> Iterable[str]:
    """Return the text; `elided` gets the values that it leaves out, by their spellings."""
    if style.elide is None:
        return pieces(stage.model.program, style)
    from miltext.weight_files.printing import DigestPrinter

    return [*DigestPrinter(None, style, elided).program(stage.model.program), "\n"]


def _compact(stage: Stage, style: Style, elided: dict[str, Value] | None = None) -> Iterable[str]:
    """Return the compact text, with one warning if weights cannot be read; `elided` gets the values that it leaves
    out, by their spellings.
    """
    from miltext.models.compact import ELIDE, compact_pieces

    style = style if style.elide is not None else style._replace(elide=ELIDE)
    unread: list[WeightsError] = []
    with weights_bar("reading weights", stage.model) as progress:
        made = list(compact_pieces(stage.model, style, on_unread=unread.append, progress=progress.add, elided=elided))
    if unread:
        message = f"weights are shown by their places: {unread[0].diagnostics[0].message}"
        show([warning(codes.MISSING_WEIGHT_FILE, message)], None, stage.name)
    return made


def _draft(stage: Stage, program: Program, style: Style, drop_names: bool) -> str:
    """Return the draft, and report why there is none."""
    from miltext.drafting.writing import to_draft

    def tell(found: Diagnostic) -> None:
        show([found], None, stage.name)

    dialect, floats, elide, _ = style
    return to_draft(program, drop_names=drop_names, dialect=dialect, floats=floats, elide=elide, on_warning=tell)


def _shown_to_hold(text: str, program: Program, stage: Stage, *, strict: bool, prove: bool) -> str:
    """Return the text, once the proofs selected by options have succeeded."""
    if strict:
        show_strict_findings(text, stage.name if stage.place else None)
    if prove:
        _prove(text, program)
    return text


def _prove(text: str, program: Program) -> None:
    """Prove that the text reads back as the same Program, to the bit."""
    from miltext.parsing.parser import parse

    if parse(text).SerializeToString(deterministic=True) != program.SerializeToString(deterministic=True):
        raise PrintError(
            [error(codes.NOT_READ_BACK, "the text reads back as another Program; please report this as a bug")]
        )
