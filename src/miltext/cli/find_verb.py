"""`miltext find`: patterns of operations in models."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.checked_paths import inputs, rules_of
from miltext.cli.habits import named_paths, shown_name
from miltext.cli.many_models import Manner, ManyModels
from miltext.cli.streams import WRONG, nested_option, open_whole, show, write_json, write_text
from miltext.diagnostics import MiltextError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.diagnostics.dynamic import Record
    from miltext.models.model import Model
    from miltext.rewriting.finding import FoundMatch
    from miltext.rewriting.rule_files import RewriteRule

EPILOG = """\b
Examples:
  miltext find softmax Model.mlpackage                  # a packaged rule
  miltext find pattern.mil Model.mlpackage
  miltext find pattern.mil . --count                    # every model below a folder
  miltext find softmax Model.mlpackage --format json
\b
Exit status: 0 the models were read, matches or not; 1 a pattern or a model is wrong; 2 usage, files.
"""


@click.command("find", cls=ManyModels, manner=Manner("paths", is_headed=False), epilog=EPILOG)
@click.argument("pattern", metavar="PATTERN")
@click.argument("paths", nargs=-1, metavar="MODEL|DIR...")
@click.option("--count", "is_count", is_flag=True, help="Show the number of matches in each model.")
@nested_option()
@format_option
def command(pattern: str, paths: tuple[str, ...], is_count: bool, nested: str | None) -> None:
    """Find the patterns of a rule file, or of a packaged rule, in models.

    PATTERN is a rule file, whose rules need no replacements, or the name of a packaged rule or file. For each match,
    the last value is shown, and the values for the names of the pattern. A folder means every model below it; a
    pipeline, all of its ML Programs.
    """
    from miltext.parsing.rule_texts import is_rule_file
    from miltext.rewriting.packaged import patterns
    from miltext.rewriting.packaged import rules_of as packaged_rules

    rules = patterns(packaged_rules(pattern))
    names = named_paths(paths, "models to search")
    found: list[tuple[str, str | None, FoundMatch]] = []
    counts: dict[str, int] = {}
    is_wrong = False
    for each in inputs(names, rules_of(None, True)):
        try:
            matches = [*_found(open_whole(each.name), rules, nested)]
        except MiltextError as failure:
            if each.found and failure.text is not None and is_rule_file(failure.text):
                continue  # a rule file beside the models
            show(failure.diagnostics, failure.text, failure.path)
            is_wrong = True
            continue
        name = shown_name(each.name)
        counts[name] = len(matches)
        found += [(name, place, match) for place, match in matches]
    _tell(found, counts, is_count)
    if is_wrong:
        sys.exit(WRONG)


def _found(whole: Model, rules: list[RewriteRule], nested: str | None) -> Iterator[tuple[str | None, FoundMatch]]:
    """Yield the matches in the chosen ML Program, or in each one, with its place in a pipeline."""
    from miltext.evaluation.subjects import opened
    from miltext.rewriting.finding import found_in

    if nested is None and whole.is_pipeline:
        programs = [(str(each.place), each.model) for each in whole.programs()]
    else:
        programs = [(nested or "", whole.select(nested))]
    for place, model in programs:
        for match in found_in(opened(model), rules):
            yield place or None, match


def _tell(found: list[tuple[str, str | None, FoundMatch]], counts: dict[str, int], is_count: bool) -> None:
    """Show the matches, or their numbers."""
    if asks_json():
        write_json({"matches": [] if is_count else [_record(*each) for each in found], "counts": counts})
    elif is_count:
        write_text("-", [f"{name}: {count}\n" for name, count in counts.items()])
    else:
        write_text("-", [_line(*each) for each in found])


def _record(name: str, place: str | None, match: FoundMatch) -> Record:
    return {"path": name, "model": place, **match._asdict(), "values": [*match.values]}


def _line(name: str, place: str | None, match: FoundMatch) -> str:
    names = ", ".join(f"{key} = {value}" for key, value in match.names.items())
    where = f"{name}, model {place}" if place else name
    return f"{where}: {match.function}/{match.value}: {match.rule}{f' ({names})' if names else ''}\n"
