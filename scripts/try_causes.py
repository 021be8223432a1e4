"""Plant edits in programs, and compare them with the causes of `diff`: `python scripts/try_causes.py`.

Each planted edit must be a cause, and never only a consequence. A program is exact if nothing else is a cause. The
script needs the tests' requirements.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.planted_edits import outcome, planted


@click.command()
@click.option("--programs", default=300, show_default=True, help="How many programs.")
@click.option("--seed", default=0, show_default=True, help="The first seed.")
def main(programs: int, seed: int) -> None:
    """Print how many programs were exact, the edits by kind, and those that were hidden."""
    counts, kinds, hidden = Counter[str](), Counter[str](), Counter[str]()
    for each in range(seed, seed + programs):
        old, new, edits = planted(each)
        if not edits:
            counts["without edits"] += 1
            continue
        found = outcome(old, new, edits)
        kinds.update(edit.kind for edit in edits)
        hidden.update(edit.kind for edit in found.hidden)
        counts["exact" if not found.hidden and not found.others else "not exact"] += 1
        if found.hidden or found.others:
            print(f"seed {each}: hidden {found.hidden}, others {found.others}, of {edits}")
    print(f"{dict(counts)}; edits {dict(kinds)}; hidden {dict(hidden)}")
    sys.exit(bool(hidden))


if __name__ == "__main__":
    main()
