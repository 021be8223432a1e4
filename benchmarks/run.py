"""Measure miltext beside its peers, in one run.

    python benchmarks/run.py                        # everything: several minutes
    python benchmarks/run.py --quick --only corpus  # a first impression
    python benchmarks/run.py --write-docs           # and put the tables into docs/performance.md

The peers are optional: pip install -r benchmarks/requirements.txt
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # which numpy reads when it is imported
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parent.parent / "src"))  # where miltext is not installed

from benchmarks import chart, report
from benchmarks.measure import Result, measure
from benchmarks.workloads import WORKLOADS

DOCS = report.ROOT / "docs" / "performance.md"
MARKS = "<!-- from here on written by `python benchmarks/run.py --write-docs` -->\n"

ROUNDS, QUICK_ROUNDS = 7, 2
BUDGET = 4.0
"""Seconds after which a slow contender sits out the rounds after its third."""


def main() -> None:
    """Measure, print, and write what was asked for."""
    options = _options()
    facts = report.environment()
    print("\n".join(f"{name}: {value}" for name, value in facts.items()))
    results: dict[str, Result] = {}
    for name in [options.only] if options.only else WORKLOADS:
        for contest in WORKLOADS[name]((lambda number: max(number // 50, 1)) if options.quick else int):
            result = measure(contest, QUICK_ROUNDS if options.quick else ROUNDS, BUDGET)
            results[result.contest] = result
            print("\n" + report.result_table(result), flush=True)
    print(report.reach_table(results), end="")
    if options.json:
        options.json.write_text(json.dumps(report.as_json(facts, results), indent=1), encoding="utf-8")
    if options.write_docs:
        prose = DOCS.read_text(encoding="utf-8").partition(MARKS)[0]
        page = f"{prose}{MARKS}\n{report.markdown(facts, results)}"
        DOCS.write_text(page, encoding="utf-8", newline="\n")
        chart.write(page)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes and two rounds: figures mean little")
    parser.add_argument("--only", choices=WORKLOADS, help="one workload")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round's figures to FILE")
    parser.add_argument("--write-docs", action="store_true", help=f"rewrite the tables of docs/{DOCS.name}")
    options = parser.parse_args()
    if options.write_docs and (options.quick or options.only):
        parser.error("--write-docs takes a whole run")
    return options


if __name__ == "__main__":
    main()
