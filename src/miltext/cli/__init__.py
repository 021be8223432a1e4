"""The `miltext` command. The module of a verb is imported when the verb is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

GROUPS = {
    "See": {
        "demo": "Show a tour of miltext on a small model.",
        "print": "Print a model's program as MIL text.",
        "info": "Summarize a model.",
        "weights": "List a model's weights, or save them as .npy files.",
        "size": "Show where the bytes of a model are, and what grew.",
        "cost": "Show what a model costs to run.",
        "describe": "Show a model's description as TOML.",
        "locate": "Show the operation at a line of model.mil.",
        "find": "Find patterns of operations in models.",
        "placement": "Show where operations run, and the reasons of refusals.",
    },
    "Write": {
        "infer": "Add the types that a draft omits.",
        "fmt": "Format MIL text canonically, and keep comments.",
        "build": "Write a model from text, or from a compiled model.",
        "parse": "Turn MIL text into a serialized Program.",
        "generate": "Make a valid program at random, to test with.",
    },
    "Check": {
        "check": "Report all problems of programs.",
        "explain": "Explain a code such as MIL604, or an operation.",
        "ops": "List the operations, or describe one.",
    },
    "Edit": {
        "rename": "Rename a value, an input or an output.",
        "reshape": "Change the sizes of inputs.",
        "expose": "Make inner values outputs of a model.",
        "extract": "Cut out the part of a model between values.",
        "link": "Make one model of several.",
        "split": "Divide a model into parts, each a model.",
        "convert-weights": "Convert a model from fp32 to fp16, or back.",
        "rewrite": "Replace patterns of operations by rules written in MIL.",
        "optimize": "Take out the operations that a model does not need.",
    },
    "Run": {
        "run": "Run a program on inputs.",
        "compare": "Run two models, and compare their numbers.",
        "reduce": "Find the smallest part of a model on which a test still passes.",
    },
    "Review": {
        "diff": "Show the differences between two models.",
        "log": "List the commits that change a model, with the change of each.",
        "merge": "Merge three versions of a text, operation by operation.",
        "sidecar": "Write a model's text beside it, for review.",
        "git": "Let git show models as text.",
    },
    "Editors, shells": {
        "lsp": "Serve an editor as a language server.",
        "completion": "Write a script with which a shell completes command lines.",
        "help": "Show the help of a verb.",
    },
}
"""The verbs by purpose, each group in the order of first need."""

VERBS = {name: meaning for group in GROUPS.values() for name, meaning in group.items()}

_TOGETHER = {
    **dict.fromkeys(("build", "rename", "expose"), "writing_verbs"),
    **dict.fromkeys(("git", "textconv", "difftool"), "git_verbs"),
    **dict.fromkeys(("mergedriver", "mergetool"), "merge_verb"),
}
"""The modules with several verbs. No list shows `textconv`, `difftool`, `mergedriver` and `mergetool`, which git
calls.
"""

COMPLETE = "_MILTEXT_COMPLETE"
"""The shell variable for completion: the command's name and `_complete`."""

EPILOG = """\b
Examples:
  miltext print Model.mlpackage
  miltext print Model.mlpackage --elide 16 -o model.mil
  miltext parse model.mil -o program.pb
  miltext fmt --check *.mil
\b
Exit status: 0 all is well; 1 the input was read and is wrong; 2 usage, files, a missing extra;
128 and its number after a signal, 130 after Ctrl-C. Completion: miltext help completion.
"""


@contextmanager
def naming_what_was_meant(context: click.Context) -> Iterator[None]:
    """Make errors of options show the usage, and the nearest option for an unknown name."""
    try:
        yield
    except click.NoSuchOption as failure:
        from miltext.cli.meanings import no_such_option

        raise no_such_option(failure, failure.ctx or context) from None
    except click.BadOptionUsage as failure:
        from miltext.cli.meanings import called

        failure.ctx = failure.ctx or called(context)
        raise
    except click.BadParameter as failure:
        if type(failure) is not click.BadParameter:  # such as a missing argument
            raise
        from miltext.cli.meanings import in_words

        raise click.BadParameter(in_words(failure), failure.ctx, failure.param, failure.param_hint) from None


class Commands(click.Group):
    """A group of commands, which names the nearest one for an unknown command or option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with naming_what_was_meant(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with naming_what_was_meant(ctx):
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchOption:
            raise
        except click.UsageError:
            from miltext.cli.meanings import no_such_command

            raise no_such_command(args[0], ctx, self.list_commands(ctx)) from None


class Verbs(Commands):
    """The verbs, whose modules are imported only when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS and name not in _TOGETHER:
            return None
        own = f"{name.replace('-', '_')}_verb"
        module = import_module(f"miltext.cli.{_TOGETHER.get(name, own)}")
        from miltext.cli.habits import with_habits

        verb = with_habits(getattr(module, name if name in _TOGETHER else "command"), name)
        if not ctx.resilient_parsing:
            return verb
        from miltext.cli.completed_words import with_words

        return with_words(verb, name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return the verbs and options that complete a word, without an import of verbs."""
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(name, help=meaning) for name, meaning in VERBS.items() if name.startswith(incomplete)]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, VERBS))
        for title, verbs in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), meaning) for name, meaning in verbs.items()])

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        from miltext.cli.habits import with_habits

        with_habits(self, None)
        return super().make_context(*args, **extra)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command as a process that signals end, and report failures outside of verbs, too."""
        if COMPLETE in os.environ:
            from miltext.cli.completing import answer

            sys.exit(answer(self, COMPLETE))
        from miltext.cli.streams import report_failures
        from miltext.files.interrupts import ended_by_signals

        with ended_by_signals(), report_failures():
            return super().main(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; end it at a failure of an input or a file with one message and an exit status."""
        from miltext.cli.streams import report_failures

        with report_failures():
            return super().invoke(ctx)


def _show_version(context: click.Context, _option: click.Parameter, is_requested: bool) -> None:
    """Show the installed version, and end."""
    if is_requested and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"miltext {version('miltext')}")
        context.exit()


@click.command(
    cls=Verbs, epilog=EPILOG, context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100}
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def command() -> None:
    """Core ML's MIL programs as text: print, edit, build, check and compare them."""
