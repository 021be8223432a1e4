"""`miltext rewrite`: a model rewritten by rules, and the rules by themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import click

from miltext.building.choices import WriteOptions
from miltext.cli.as_json import asks_json, format_option
from miltext.cli.declared import declared
from miltext.cli.given_inputs import verify_options, verifying_inputs
from miltext.cli.habits import quiet
from miltext.cli.progress import Progress
from miltext.cli.streams import (
    WRONG,
    colored,
    nested_option,
    open_whole,
    output_in_folder,
    show,
    weights_option,
    write_json,
    write_text,
)
from miltext.cli.writing_verbs import given_weights, require_one_end, tell_written
from miltext.diagnostics.wording import tally

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen
    from miltext.descriptions.changes import DescriptionChange
    from miltext.diagnostics.dynamic import Record
    from miltext.models.model import Model
    from miltext.rewriting.passes import AnyRule
    from miltext.rewriting.results import Rewriting
    from miltext.rewriting.trying import RuleTest

EPILOG = """\b
Examples:
  miltext rewrite --list                                         # the packaged rules, a line each
  miltext rewrite --list softmax                                 # bounds and sources of these
  miltext rewrite softmax casts Model.mlpackage --dry-run        # the sites, and why some stay
  miltext rewrite softmax casts Model.mlpackage -o New.mlpackage
  miltext rewrite rules.mil Model.mlpackage -o New.mlpackage --verify
  miltext rewrite softmax Model.mlpackage --dry-run --format json
  miltext rewrite --test rules.mil                               # prove the rules themselves
  miltext rewrite rules.py Model.mlpackage --dry-run             # rules in Python: runs their code
\b
Exit status: 0 all is well, sites or not; 1 a rule or the model is wrong, or a proof failed, and
nothing is written; 2 usage, files.
"""

PASS = "pass"
"""The word for a pass in place of the name of a file."""


@click.command("rewrite", epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="RULES... MODEL")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    callback=output_in_folder,
    default="",
    help="The .mlpackage, .mlmodel, .mlmodelc or .mil to write.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing: show the replacements.")
@click.option("--only", "sites", multiple=True, metavar="VALUE", help="Replace only this site; may be repeated.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Make N replacements at most.")
@verify_options
@click.option("--list", "is_list", is_flag=True, help="List the packaged rules and passes, or describe RULES.")
@click.option("--test", "is_test", is_flag=True, help="Prove RULES on their examples and on programs near to these.")
@nested_option()
@weights_option
@format_option
@declared(WriteOptions, "no_loss", "force", "check")
def command(
    words: tuple[str, ...],
    output: str,
    dry_run: bool,
    sites: tuple[str, ...],
    limit: int | None,
    verify: bool,
    archive: str | None,
    is_list: bool,
    is_test: bool,
    nested: str | None,
    weights: tuple[str, ...],
    **choices: Chosen,
) -> None:
    """Write MODEL with each match of a rule's pattern replaced, until no rule applies.

    RULES are rule files, which are MIL drafts, or Python (.py), whose code is run, and names of packaged rules, files
    of rules or passes. Names, description and weights are kept as in every edit; unused weights go. Each site is shown
    with the operations that went and came, or with the reason why it stays: an inner value with another use, a
    condition, a type.
    docs/rewrite.md teaches rules.
    """
    if is_list or is_test:
        _require_alone(is_list and is_test, output, dry_run, verify or archive, sites, limit)
        _list(words) if is_list else _test(words)
        return
    if len(words) < 2:
        raise click.UsageError("name at least one rule, and the MODEL: `miltext rewrite softmax Model.mlpackage`")
    require_one_end(output, dry_run, "the operations to replace")
    *rules, model = words
    whole = open_whole(model)
    own = {"only": sites, "limit": limit, "weights": given_weights(weights), "model": nested}
    own |= {"verify": verify, "inputs": verifying_inputs(archive, verify=verify)}
    made, changes = _rewrite(whole, rules, output or None, **own, **choices)
    show(made.warnings, whole.text, whole.name)
    tell_written(output, changes, {**made.to_json(), "output": output or None})
    if not asks_json():
        write_text("-", [made.to_text()])


def _require_alone(both: bool, output: str, dry_run: bool, verify: object, sites: Sequence[str], limit: object) -> None:
    """Raise UsageError for options of a rewriting beside `--list` or `--test`."""
    if both or output or dry_run or verify or sites or limit is not None:
        raise click.UsageError("--list and --test are about rules alone: leave the other options out")


def _rewrite(
    whole: Model, rules: list[str], output: str | None, **choices: Chosen
) -> tuple[Rewriting, list[DescriptionChange]]:
    """Rewrite a model, and show a bar; return also the changes to its description."""
    from miltext.rewriting.rewriting import rewrite

    changes: list[DescriptionChange] = []
    with Progress("writing weights") as bar:
        choices |= {"progress": bar.add, "expect": bar.expect, "on_change": changes.append}
        made = rewrite(whole, rules, output, **choices)
    return made, changes


# ---- rules by themselves


def _list(words: Sequence[str]) -> None:
    """List the packaged rules, or describe those of the given names and files."""
    from miltext.rewriting.packaged import packaged, rules_of

    rules = rules_of(words) if words else packaged()
    if asks_json():
        write_json({"rules": [_record(rule) for rule in rules]})
    elif words:
        write_text("-", ["\n".join(_described(rule) for rule in rules)])
    else:
        write_text("-", _listed(rules))


def _record(rule: AnyRule) -> Record:
    from miltext.rewriting.passes import GraphPass

    return {
        "name": rule.name,
        "file": None if (place := _place(rule)) == PASS else place,
        "purpose": rule.purpose,
        "source": rule.source,
        "exactness": str(rule.exactness),
        "systems": rule.systems,
        "replaces": isinstance(rule, GraphPass) or rule.replacement is not None,
    }


def _listed(rules: Sequence[AnyRule]) -> Iterator[str]:
    """Yield a line for each rule, by file."""
    mark = partial(click.style, bold=True) if colored(sys.stdout) else str
    width = max(len(rule.name) for rule in rules)
    for place, members in groupby(rules, _place):
        yield mark("passes" if place == PASS else place or "text") + "\n"
        for rule in members:
            exactness = "exact" if rule.exactness.is_exact else "bounds"
            yield f"  {mark(rule.name)}{' ' * (width - len(rule.name))}  {exactness:6}  {rule.purpose}\n"


def _described(rule: AnyRule) -> str:
    facts = {"purpose": rule.purpose, "exactness": str(rule.exactness), "for": rule.systems, "source": rule.source}
    lines = [f"  {key}: {value}\n" for key, value in facts.items() if value]
    return f"{rule.name} ({_place(rule) or 'text'})\n{''.join(lines)}"


def _place(rule: AnyRule) -> str | None:
    """Return the name of the file of a rule, None for a text, and PASS for a pass."""
    from miltext.rewriting.packaged import file_of

    file = file_of(rule)
    return PASS if file is None else file.path


def _test(words: Sequence[str]) -> None:
    """Test rules, and end with status 1 if one fails."""
    from miltext.rewriting.packaged import replacing, rules_of, with_examples
    from miltext.rewriting.trying import try_rule

    if not words:
        raise click.UsageError("name the rules to test: a rule file, or a packaged rule")
    tests = [try_rule(rule) for rule in with_examples(replacing(rules_of(words, run=True)))]
    if asks_json():
        write_json({"tests": [_test_record(test) for test in tests]})
    else:
        write_text("-", [_tested(test) for test in tests if test.failures or not quiet()])
    if any(test.failures for test in tests):
        sys.exit(WRONG)


def _test_record(test: RuleTest) -> Record:
    failures = [{**each._asdict(), "notes": [*each.notes]} for each in test.failures]
    return {**asdict(test), "failures": failures}


def _tested(test: RuleTest) -> str:
    head = (
        f"{test.rule}: {'FAILED' if test.failures else 'proven'} on {tally(test.inputs, 'input')}; "
        f"{tally(test.examples, 'example')}, {test.keeps} near miss{'' if test.keeps == 1 else 'es'}, "
        f"{test.rewritten} of {test.changed} changed programs rewritten\n"
    )
    lines = []
    for each in test.failures:
        change = f" with {each.change}" if each.change else ""
        lines.append(f"  {each.function}{change}: {each.message}\n")
        lines += [f"    note: {note}\n" for note in each.notes]
    return head + "".join(lines)
