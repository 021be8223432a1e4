"""The commands of `python -m fuzz`."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import click

from fuzz import ROOT
from fuzz.engines import engines
from fuzz.findings import target_of
from fuzz.jobs import NeverBegun, Result
from fuzz.jobs import run as run_jobs

T = TypeVar("T")

FOLDER = ROOT / ".fuzz"
COUNT = click.IntRange(1)
MINUTES = click.FloatRange(0, min_open=True)
Finding = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def main() -> None:
    """Fuzz miltext: the page is fuzz/README.md."""


@main.command("list")
def list_targets() -> None:
    """Show the targets, and what must hold of their inputs."""
    from fuzz.targets import TARGETS

    for name, target in TARGETS.items():
        print(f"{name:<10}{target.says.splitlines()[0]}")


@main.command()
@click.argument("targets", nargs=-1)
@click.option("--minutes", type=MINUTES, default=5.0, show_default=True, help="How long, each target.")
@click.option("--seed", type=COUNT, default=1, show_default=True, help="Which inputs; each job has the next.")
@click.option("--jobs", type=COUNT, default=1, show_default=True, help="How many processes, each target.")
@click.option("--engine", type=click.Choice(["atheris", "plain"]), help="What makes inputs.  [the best that is there]")
@click.option("--out", default=FOLDER, type=click.Path(path_type=Path), help="A folder for findings.  [.fuzz]")
@click.option("--minimize/--no-minimize", default=True, show_default=True, help="Make new findings small at the end.")
def run(
    targets: tuple[str, ...], minutes: float, seed: int, jobs: int, engine: str | None, out: Path, minimize: bool
) -> None:
    """Fuzz TARGETS, one after the other, all by default. The exit status is 1 if there is a finding.

    For example: python -m fuzz run parse check --minutes 30 --jobs 2
    """
    from fuzz.targets import TARGETS

    if unknown := sorted({*targets} - {*TARGETS}):
        raise click.UsageError(f"`{unknown[0]}` is not a target: choose among {', '.join(TARGETS)}")
    if engine not in (None, *engines()):
        raise click.UsageError("atheris is not installed: pip install -e '.[fuzz]', or --engine plain")
    found = [
        _fuzzed(name, TARGETS[name].suffix, out, seed, 60 * minutes, jobs, engine or engines()[0], minimize)
        for name in targets or TARGETS
    ]
    sys.exit(1 if any(found) else 0)


def _fuzzed(
    name: str, suffix: str, out: Path, seed: int, seconds: float, jobs: int, engine: str, minimize: bool
) -> int:
    """Fuzz one target, show what is counted meanwhile and at the end or an interrupt; return how many failures."""
    started, result = time.monotonic(), Result()
    try:
        for result in run_jobs(name, suffix, out.resolve(), seed, seconds, jobs, engine):
            if sys.stderr.isatty():
                print(f"\r{_told(name, result, time.monotonic() - started)}", end="", file=sys.stderr, flush=True)
    except NeverBegun as failure:
        print(f"{name}: {failure}", file=sys.stderr, flush=True)
        return 1
    finally:
        print(f"{_told(name, result, time.monotonic() - started)}, by {engine}", flush=True)
    for file in result.counted.new:
        print(f"    {out / file}", flush=True)
        if minimize:
            run = [sys.executable, "-m", "fuzz", "minimize", str((out / file).resolve())]
            subprocess.run(run, cwd=ROOT, check=False)
    return result.counted.failed


def _told(name: str, result: Result, seconds: float) -> str:
    count = result.counted
    covered = "" if result.covered is None else f", {result.covered} places covered"
    failed = f"{count.failed} failed, {len(count.new)} new findings"
    return f"{name}: {count.tried} inputs in {seconds:.0f} s{covered}, {failed}"


@main.command()
@click.argument("findings", nargs=-1, required=True, type=Finding)
def replay(findings: tuple[Path, ...]) -> None:
    """Try FINDINGS again, and show what they come to. The exit status is 1 if one still fails."""
    from fuzz.targets import TARGETS
    from fuzz.trials import tried

    failures = []
    for path in findings:
        data = path.read_bytes()
        with _target(path, TARGETS).opened() as law:
            failure = tried(law, data)
        failures += [failure] if failure else []
        print(f"{path}: {failure.story if failure else 'holds'}")
    sys.exit(1 if failures else 0)


@main.command()
@click.argument("findings", nargs=-1, required=True, type=Finding)
@click.option("--seconds", default=60.0, show_default=True, help="How long at most, each finding.")
def minimize(findings: tuple[Path, ...], seconds: float) -> None:
    """Make FINDINGS as small as they can be and still fail at the same place. The files are changed."""
    from fuzz.trials import limited_memory

    with limited_memory():
        for path in findings:
            _minimize(path, seconds)


def _minimize(path: Path, seconds: float) -> None:
    from fuzz.minimizing import minimized
    from fuzz.targets import TARGETS
    from fuzz.trials import tried

    target, data = _target(path, TARGETS), path.read_bytes()
    with target.opened() as law:
        failure = tried(law, data)
        if failure is None:
            print(f"{path}: holds")
            return

        def fails(made: bytes) -> bool:
            again = tried(law, made)
            return again is not None and again.place == failure.place

        made = minimized(data, fails, target.cuts, seconds)
    path.write_bytes(made)
    print(f"    {path.name}: {len(data)} bytes, now {len(made)}: {failure.place}")


@main.command()
@click.argument("finding", type=Finding)
@click.argument("name")
@click.argument("sentence")
def adopt(finding: Path, name: str, sentence: str) -> None:
    """Make a golden called NAME of a FINDING that holds now. SENTENCE says what it shows, with a full stop."""
    from fuzz.adopting import NAME, SENTENCE
    from fuzz.adopting import adopt as make_golden
    from fuzz.targets import TARGETS
    from fuzz.trials import tried

    if not NAME.fullmatch(name):
        raise click.UsageError(f"the name is that of a file, of letters, digits and `_`, and not `{name}`")
    if not SENTENCE.fullmatch(sentence):
        raise click.UsageError("the sentence begins with a capital letter, and ends with a full stop")
    data = finding.read_bytes()
    with _target(finding, TARGETS).opened() as law:
        if (failure := tried(law, data)) is not None:
            raise click.ClickException(f"it still fails, so mend miltext first: {failure.place}")
    try:
        made = make_golden(finding, name, sentence)
    except FileExistsError as there:
        raise click.ClickException(str(there)) from None
    for path in made:
        print(path.relative_to(ROOT))


def _target(path: Path, targets: Mapping[str, T]) -> T:
    """Return the target that a file is named after."""
    name = target_of(path)
    if name not in targets:
        raise click.UsageError(f"{path.name} is not a finding: its name begins with its target, as in parse-x.mil")
    return targets[name]


if __name__ == "__main__":
    main()
