"""Make docs/neural-engine.md, what is known of the Neural Engine, from the tables; `--check` fails if it is stale."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

from generated import settle

from miltext.evaluation.devices.facts import FACTS, FORGE, GAPS, MEASURED, RECIPE, STUDY, SYSTEM, Fact
from miltext.placement.gaps import UNKNOWN_PLACEMENTS
from miltext.placement.rules import ANY, REFUSED
from miltext.placement.rules import table as rules_table
from miltext.schema.operations import all_names
from miltext.schema.walk import is_constant

PAGE = Path(__file__).resolve().parents[1] / "docs" / "neural-engine.md"

INTRODUCTION = f"""# What is known of the Neural Engine

`scripts/make_neural_engine_page.py` makes this page from the tables of facts in miltext. Others published the
measurements; none comes from Apple. `miltext run --compute ane` and `--compute cpu` compute [with these
rules](evaluation.md#the-arithmetic-of-devices), and `--explain` lists the operations of a model that they cover.

- **[The study]({STUDY})**
  measured one M4 and one M6, with {SYSTEM}. Sources without a link are files of its folder `data/06_numerics`.
- **[ANEForge]({FORGE})** measured an M5: a product of matrices of K equal terms
  becomes infinite between 32758.8 and 32760.8, for K from 4 to 128. The rules below give the same number.
- The M4 and the M6 gave the same bits in 108 of 108 sums. Where a rule names one of the two chips, the other was not
  measured. So all sums of an M4 are reported as assumed: its cases have no bias, no infinity, and no dropped
  product that rounding would keep.
"""

PLACEMENT = """## Where operations run

`miltext check --profile` and `miltext placement --profile` [answer by these rules](placement.md#profiles). The study
measured them through Core ML; the sources are its files and sections. A condition is about the data types of computed
inputs (`in`) and outputs (`out`), of constants (`weights`), the parameters that are given, those that are `computed`,
words, and numbers. The first refusal that fits counts. A row without cases has its limit from the source alone, or was
seen in dumps.
"""

OVER_WINDOWS = (
    "conv",
    "conv_transpose",
    "linear",
    "matmul",
    "scaled_dot_product_attention",
    "avg_pool",
    "max_pool",
    "l2_pool",
)
"""The operations over windows, or with sums of products."""

SHARED = ("sizes ", "elements ")
"""The beginnings of the conditions of every supported operation."""

CERTAINTIES = {
    MEASURED: "bit for bit",
    RECIPE: "a recipe for the largest error; its bits are not proven",
}
"""The words for a certainty; those of a report are its own."""


def main() -> None:
    """Write the page, or compare it with the file."""
    settle(__doc__, [(PAGE, page())])


def page() -> str:
    """Return the page."""
    return "\n".join([INTRODUCTION, *(f"{section}\n" for section in sections())]).rstrip() + "\n"


def sections() -> Iterator[str]:
    """Yield the sections of the page; a further table of facts is a further section."""
    yield "## What it computes\n\n" + facts(fact for fact in FACTS if fact.device == "ane")
    yield "## What Core ML computes on the CPU\n\n" + facts(fact for fact in FACTS if fact.device == "cpu")
    yield "## What is not known of its arithmetic\n\n" + table(
        ("operations", "what is not known", "what miltext does"),
        ([spelled(gap.operations), gap.what, gap.instead] for gap in GAPS),
    )
    yield PLACEMENT
    yield "## Operations that the Neural Engine refuses\n\n" + refusals()
    yield "## Sums and windows that run on the Neural Engine\n\n" + shared() + supported(OVER_WINDOWS)
    yield "## Other operations that run on the Neural Engine\n\n" + shared() + supported(OVER_WINDOWS, others=True)
    yield "## What is not known of where operations run\n\n" + table(
        ("what is not known", "what miltext does"), ([gap.what, gap.instead] for gap in UNKNOWN_PLACEMENTS)
    )
    named = spelled(without_rules())
    yield f"Operations without a rule of their own, about which only the rules about every operation answer: {named}."


def refusals() -> str:
    """Return the table of the refusals of all profiles."""
    return table(
        ("operation", "condition", "Apple's words", "chip, system", "cases", "source"),
        (
            [
                "every one" if each.operation == ANY else f"`{each.operation}`",
                f"`{each.when}`" if each.when else "always",
                each.message.replace("|", "\\|"),
                f"{each.chip}, {each.system}",
                str(each.cases),
                each.source.partition(": ")[2],
            ]
            for each in rules_table()
            if each.answer == REFUSED
        ),
    )


def supported(operations: Collection[str], *, others: bool = False) -> str:
    """Return the table of the conditions under which these operations are supported, or the `others`; each operation
    has its cases.
    """
    rows: dict[str, list[str]] = {}
    for each in rules_table():
        if each.answer != REFUSED and (each.operation in operations) is not others:
            own = [atom for atom in each.when.split("; ") if not atom.startswith(SHARED)]
            rows.setdefault(f"`{'; '.join(own)}`", []).append(f"`{each.operation}` {each.cases}")
    return table(
        ("condition", "operations, with the number of cases"),
        ([condition, ", ".join(listed)] for condition, listed in rows.items()),
    )


def shared() -> str:
    """Return the conditions of every supported operation, with the chip, the system and the source of the cases."""
    made = [each for each in rules_table() if each.answer != REFUSED]
    atoms = {tuple(atom for atom in each.when.split("; ") if atom.startswith(SHARED)) for each in made}
    sources = {(each.chip, each.system, each.source.partition(": ")[2]) for each in made}
    [(atoms_of_all, (chip, system, source))] = product(atoms, sources)
    every = f"Beside these conditions, each has `{'; '.join(atoms_of_all)}`."
    return f"{every} All were measured on {chip}, {system}: {source}.\n\n"


def without_rules() -> list[str]:
    """Return the names of operations that no rule is about."""
    known = {each.operation for each in rules_table()}
    return sorted(name for name in all_names() if name not in known and not is_constant(name))


def facts(chosen: Iterable[Fact]) -> str:
    """Return the table of facts."""
    return table(
        ("operations", "rule", "chips", "certainty", "cases that decide", "source"),
        (
            [
                spelled(fact.operations),
                fact.rule,
                ", ".join(fact.chips),
                CERTAINTIES.get(fact.certainty, "the threshold of a report"),
                fact.needs,
                linked(fact.source),
            ]
            for fact in chosen
        ),
    )


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def spelled(operations: Sequence[str]) -> str:
    """Return the names of operations; a row without any is about all."""
    return ", ".join(f"`{name}`" for name in operations) or "all"


def linked(source: str) -> str:
    """Return a source, with a link if it is an address."""
    if not source.startswith("https://"):
        return source
    return f"[{source.removeprefix('https://github.com/').replace('/issues/', ' #')}]({source})"


if __name__ == "__main__":
    main()
