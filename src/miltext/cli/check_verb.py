"""`miltext check`: all problems of programs, and their fixes."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import format_options
from miltext.cli.captured import summed
from miltext.cli.check_run import INPUT, CheckRun, Original
from miltext.cli.checked_paths import inputs, option_codes, rules_of
from miltext.cli.fixing_files import Fixing
from miltext.cli.given_inputs import input_ranges
from miltext.cli.habits import named_paths
from miltext.cli.many_models import Manner, ManyModels
from miltext.cli.placement_verb import LIST, write_profiles
from miltext.cli.streams import fail, nested_option, open_whole, show, tell, write_json, write_text
from miltext.diagnostics.wording import tally
from miltext.settings.settings import OFF

if TYPE_CHECKING:
    from miltext.batches.named_models import Input
    from miltext.cli.habits import Chosen
    from miltext.diagnostics.reports import Report


RULES = ("config", "isolated", "force_exclude")
"""The options that choose files."""

EPILOG = """\b
Examples:
  miltext check model.mil
  miltext check Model.mlpackage              # places are those of `miltext print Model.mlpackage`
  miltext check Pipeline.mlpackage           # its connections, and each ML Program: `..., model 1 "head"`
  miltext check model.mil --from Model.mlpackage   # the model that `build model.mil --from Model.mlpackage` writes
  miltext check Model.mlmodelc --from Model.mlpackage   # its files, and whether that model is their source
  miltext check Model.mlmodelc --ignore MIL264   # a copy without its weights
  miltext check --weights-data Model.mlpackage   # also the numbers of its weights: NaN, infinity, zeros
  miltext check --numbers Model.mlpackage --input-range image=0:1   # sums and functions that leave the range of fp16
  miltext check .                            # every model and .mil below, except for sidecars
  miltext check --fix .                      # apply all certain suggestions to the .mil
  miltext check --diff --unsafe-fixes a.mil  # show the changes by all suggestions
  miltext check --fix Model.mlpackage        # its description follows its program
  miltext check --select MIL6 --ignore MIL603 .
  miltext check --no-drafts .                # for a repository of complete programs
  miltext check --advisories Model.mlpackage # also known faults of Core ML and coremltools
  miltext check --advisories --list          # the known faults, their sources and ways out
  miltext check --profile ane-m4-macos27 Model.mlpackage   # operations that the Neural Engine refuses, and why
  miltext check --watch .                    # again after each change
  miltext check --jobs auto --cache .miltext-cache .   # in a process for each core; unchanged models are not read
  miltext check --format sarif *.mil > found.sarif
  miltext print Model.mlpackage | miltext check -
\b
`// mil: ignore[MIL603]` at the end of a line ignores findings there. A [tool.miltext] in pyproject.toml
has select, ignore, per-file-ignores, exclude, unsafe-fixes, drafts, advisories, rules and profile for a
project.
\b
Exit status: 0 nothing was found, or is left; 1 errors or warnings were found, or with --diff a difference;
2 usage, settings, files, a missing extra.
"""


def _expanded(paths: Sequence[str], options: Mapping[str, Chosen], missing: bool) -> list[Input]:
    """Return the models of the paths, without those that the settings exclude."""
    found = inputs(paths, rules_of(**{name: options[name] for name in RULES}), missing=missing)
    if options["original"] is not None:
        _refuse_bundles(found)
    return found


def _end(counts: Counter[str], options: Mapping[str, Chosen]) -> None:
    """Show the sums of all models, for people."""
    _refuse_unused_ranges(options["input_ranges"], counts)
    if options["form"] == "text":
        tell(_summary(counts, fix=options["fix"], diff=options["diff"]))


@click.command(
    "check",
    cls=ManyModels,
    manner=Manner("paths", _expanded, alone={"watch": "--watch", "is_list": "--list"}, end=_end, is_headed=False),
    epilog=EPILOG,
)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--fix",
    is_flag=True,
    help="Apply certain suggestions to .mil files, and to descriptions of models; `-` is written out.",
)
@click.option(
    "--prefer",
    type=click.Choice(["program", "description"]),
    default="program",
    help="The side of a model that the other side follows in a fix.  [program]",
)
@click.option("--unsafe-fixes/--no-unsafe-fixes", default=None, help="Also apply, or count, the uncertain suggestions.")
@click.option(
    "--diff", is_flag=True, help="Write nothing; show the changes of --fix, and exit with 1 if there are any."
)
@click.option(
    "--select",
    multiple=True,
    callback=option_codes,
    metavar="CODES",
    help="Report only these codes, or prefixes of codes.  [ALL]",
)
@click.option(
    "--ignore",
    multiple=True,
    callback=option_codes,
    metavar="CODES",
    help="Do not report these codes, or prefixes of codes.",
)
@format_options(
    "text", "json", "sarif", "github", help="For people, or for programs: JSON, SARIF, GitHub's annotations.  [text]"
)
@click.option(
    "--from",
    "original",
    metavar="MODEL",
    help="The model that texts are built from, checked with them; or the source of a compiled model.",
)
@nested_option("The model of the pipeline of --from whose program the text is: 1, 1/0.")
@click.option("--with-coremltools", "loader", is_flag=True, help="Also run coremltools' own loader.")
@click.option(
    "--weights-data", is_flag=True, help="Also read the numbers of models' weights; for a text, those of --from."
)
@click.option(
    "--numbers",
    is_flag=True,
    help="Also bound the numbers that fp16 computes: sums out of range, and functions that fail.",
)
@click.option(
    "--input-range",
    "input_ranges",
    metavar="NAME=LOW:HIGH",
    multiple=True,
    callback=input_ranges,
    help="The range of an input for --numbers, as in x=-1:1; may be repeated.  [the description's]",
)
@click.option("--drafts/--no-drafts", default=None, help="Accept drafts, or report them as errors.  [--drafts]")
@click.option(
    "--advisories",
    "advisories",
    flag_value="usual",
    default=None,
    help="Also report known faults of Core ML and coremltools that the program meets.",
)
@click.option("--all-advisories", "advisories", flag_value="all", help="Also report faults seen on one device only.")
@click.option("--no-advisories", "advisories", flag_value=OFF, help="Do not report known faults.  [--no-advisories]")
@click.option(
    "--profile",
    metavar="NAME",
    help="Also report operations that the Neural Engine of a chip and system does not take; `list` lists all, `off` is "
    "none.  [the project's]",
)
@click.option("--list", "is_list", is_flag=True, help="List the advisories, and check nothing.")
@click.option("--config", metavar="FILE", help="Use the settings of this pyproject.toml for all files.")
@click.option("--isolated", is_flag=True, help="Ignore the settings of every pyproject.toml.")
@click.option("--watch", is_flag=True, help="Check again after each change of a file that was read, until Ctrl-C.")
@click.option("--force-exclude", is_flag=True, help="Skip excluded files even if they are named.")
def command(
    paths: tuple[str, ...],
    fix: bool,
    diff: bool,
    form: str,
    loader: bool,
    watch: bool,
    is_list: bool,
    **choices: Chosen,
) -> None:
    """Report all problems of each PATH, and how to fix them.

    A PATH is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb, a folder of models and .mil files, or `-` for
    standard input. In a folder, sidecars are skipped: their models are checked. A file in a package or a compiled model
    stands for the whole model. In a pipeline, each input of a model
    must come from the pipeline or an earlier model, with a fitting type.
    """
    if is_list:
        _list_advisories(paths, form, choices.get("advisories"))
        return
    if choices.get("profile") == LIST:
        _list_profiles(paths, form)
        return
    paths = named_paths(paths, "models or folders to check")
    _refuse_unclear(paths, form, fix, diff, watch)
    if loader:
        logging.getLogger("coremltools").setLevel(logging.ERROR)  # it warns of frameworks outside macOS
    once = partial(_check, paths, fix, diff, form, loader, **choices)
    if watch:
        from miltext.cli.watching import run_again

        run_again(lambda: once()[1], paths)
    sys.exit(once()[0])


def _list_advisories(paths: Sequence[str], form: str, choice: object) -> None:
    """Show the advisories of a choice; all without one."""
    from miltext.advisories.listing import listed
    from miltext.advisories.table import ALL, CHOICES, advisories

    if paths or form not in ("text", "json"):
        raise click.UsageError("--list is about the advisories alone, as text or JSON: leave the models out")
    chosen = advisories(str(choice) if choice in CHOICES else ALL)
    if form == "json":
        write_json({"advisories": [each.to_json() for each in chosen]})
    else:
        write_text("-", [listed(chosen)])


def _list_profiles(paths: Sequence[str], form: str) -> None:
    """Show the profiles."""
    if paths or form not in ("text", "json"):
        raise click.UsageError("--profile list is about the profiles alone, as text or JSON: leave the models out")
    write_profiles(as_json=form == "json")


def _check(
    paths: Sequence[str],
    fix: bool,
    diff: bool,
    form: str,
    loader: bool,
    *,
    prefer: str,
    original: str | None,
    nested: str | None,
    weights_data: bool,
    numbers: bool,
    input_ranges: Mapping[str, tuple[float, float]],
    unsafe_fixes: bool | None,
    **choices: Chosen,
) -> tuple[int, list[str]]:
    """Check the paths, report the findings, and return the exit status, and the written files."""
    rules = rules_of(unsafe=unsafe_fixes, **choices)
    if input_ranges and not numbers:
        raise click.UsageError("--input-range is for the bounds of numbers: add --numbers")
    checked = inputs(paths, rules)
    fixing = Fixing(diff=diff) if fix or diff else None
    beside = _original(original, nested, checked)
    run = CheckRun(rules, fixing, loader, prefer, beside, weights_data=weights_data)
    run.ranges = input_ranges if numbers else None
    reports: list[Report] = []
    for each in checked:
        for report in run.reports(each):
            reports.append(report)
            if form == "text":
                _show(report, diff=diff, err=fix and each.name == "-")
    counts = run.counts(reports)
    is_alone = not summed(counts)
    if is_alone:
        _refuse_unused_ranges(input_ranges, counts)
    if form != "text":
        write_text("-", [_for_machines(form, reports)])
    elif is_alone:
        tell(_summary(counts, fix=fix, diff=diff))
    return run.status(reports), run.fixing.written if run.fixing else []


def _original(original: str | None, nested: str | None, checked: Sequence[Input]) -> Original | None:
    """Return the model of `--from`. Refuse a model that cannot be the source of the compiled models to check."""
    if original is None:
        if nested is not None:
            raise click.UsageError("--model chooses a model in the pipeline of --from: name that pipeline, too")
        return None
    from miltext.compiled.stated import source_when_compiled

    whole = open_whole(original)
    source = source_when_compiled(whole)
    bundles = _refuse_bundles(checked)
    if bundles and source is None:
        way = f"; `miltext diff {original} {bundles[0]}` compares two" if whole.is_compiled else ""
        raise click.UsageError(f"--from of a compiled model is the .mlpackage or .mlmodel that was compiled{way}")
    return Original(whole, nested, source)


def _refuse_bundles(checked: Sequence[Input]) -> list[str]:
    """Return the compiled models, and refuse more than one: they have one source."""
    from miltext.containers.opening import is_bundle

    bundles = [each.name for each in checked if is_bundle(Path(each.name))]
    if len(bundles) > 1:
        named = ", ".join(bundles[:3]) + ", ..." * (len(bundles) > 3)
        raise click.UsageError(f"--from is the source of one compiled model; check these one by one: {named}")
    return bundles


def _refuse_unused_ranges(ranges: Mapping[str, object], counts: Counter[str]) -> None:
    """End the command with an error for a range that matches no input of the bounded programs."""
    bounded = [name.removeprefix(INPUT) for name in counts if name.startswith(INPUT)]
    unused = sorted(ranges.keys() - bounded)
    if unused and bounded:
        fail(f"--input-range {unused[0]}: no program has this input; the inputs are {', '.join(sorted(bounded))}")


def _summary(counts: Counter[str], *, fix: bool, diff: bool) -> str:
    """Return the last line of a report for people."""
    kinds = [(counts[kind], kind) for kind in ("error", "warning")]
    left = counts["error"] + counts["warning"]
    programs = f"in {_counted(counts)}"
    counted = f"{', '.join(tally(count, kind) for count, kind in kinds if count) or 'nothing found'} {programs}"
    if not (fix or diff):
        return f"{counted}; {counts['fixable']} fixable with --fix" if counts["fixable"] else counted
    if diff:
        counted = f"{counts['fixed'] or 'nothing'} would be fixed {programs}"
    elif counts["fixed"] or left:
        counted = f"{counts['fixed']} fixed, {left} left {programs}"
    return f"{counted}; {counts['unsafe']} more with --unsafe-fixes" if counts["unsafe"] else counted


def _counted(counts: Counter[str]) -> str:
    """Return the numbers of checked programs and rule files, in words."""
    if not counts["rule file"]:
        return tally(counts["program"], "program")
    rules = tally(counts["rule file"], "rule file")
    return f"{tally(counts['program'], 'program')} and {rules}" if counts["program"] else rules


def _refuse_unclear(paths: Sequence[str], form: str, fix: bool, diff: bool, watch: bool) -> None:
    if watch and ("-" in paths or form != "text"):
        message = "--watch reports to people, on files that can be read again"
        raise click.UsageError(f"{message}: leave out {'`-`' if '-' in paths else f'--format {form}'}")
    if form != "text" and (diff or (fix and "-" in paths)):
        raise click.UsageError(f"standard output cannot have both the text and the report: leave out --format {form}")


def _show(report: Report, *, diff: bool, err: bool) -> None:
    """Show a report to a person; beside differences, only findings that prevent a text from being read."""
    from miltext.cli.repeats import without_repeats
    from miltext.diagnostics.selection import keeps_from_reading

    shown = [each for each in report.diagnostics if keeps_from_reading(each)] if diff else report.diagnostics
    show(without_repeats(shown, report.text), report.text, report.name or report.path, err=err or diff, is_result=True)


def _for_machines(form: str, reports: Sequence[Report]) -> str:
    from importlib.metadata import version

    from miltext.diagnostics.option_words import found_by_command
    from miltext.diagnostics.reports import as_github, as_json, as_sarif

    reports = [each._replace(diagnostics=found_by_command(each.diagnostics)) for each in reports]
    if form == "sarif":
        return as_sarif(reports, version("miltext"))
    return as_json(reports) if form == "json" else as_github(reports)
