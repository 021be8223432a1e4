"""Make docs/advisories.md, the page of known faults, from their table; `--check` fails if it is stale."""

from __future__ import annotations

from pathlib import Path

from generated import settle

from miltext.advisories.table import Advisory, advisories, table_file
from miltext.diagnostics.codes import TABLE
from miltext.syntax.phrases import functions, name_in

PAGE = Path(__file__).resolve().parents[1] / "docs" / "advisories.md"

HEAD = """\
# Advisories

This page lists the known faults of Core ML and coremltools that `miltext check --advisories` finds in a program. Each
comes from a public report. The reports name systems and versions; other systems may have the fault, or not.

```sh
miltext check --advisories Model.mlpackage      # faults that do not depend on one device
miltext check --all-advisories Model.mlpackage  # also faults that were seen on one device only
miltext check --advisories --list               # this list; --json for programs
miltext rewrite softplus Model.mlpackage -o New.mlpackage --verify
```

A finding is not a proof of an error: many faults show only for large numbers, or on one processor. The comment
`// mil: ignore[MIL881]` at the end of a line ignores one finding, and `--ignore MIL884` a kind. In
[a pyproject.toml](settings.md), `advisories = "usual"` turns them on for a project, in the language server, too. In
Python, `miltext.check(model, advisories="usual")` reports them.

The patterns are functions `advise_NAME` of a [rule file](rewrite.md), `src/miltext/advisories/known.mil`, which states
all facts as attributes. `seen` is the evidence: `any` follows from the arithmetic, or from code that anyone can run;
`several` was seen on several devices or by several people; `one` was seen on one device, or the report names none.
"""


def page() -> str:
    """Return the page of the documentation."""
    parts = [HEAD]
    code = ""
    for each in advisories():
        if each.code != code:
            code = each.code
            title = TABLE[code].title.removeprefix("known fault: ")
            heading = title[0].upper() + title[1:]
            parts.append(f"## {heading}\n\nThese are findings of [{code}](diagnostics.md#{code.lower()}).\n")
        parts.append(section(each))
    return "\n".join(parts)


def section(each: Advisory) -> str:
    fix = f"[`miltext rewrite {each.fix}`](rewrite.md)" if each.fix else ""
    rows = {
        "instead": each.instead,
        "rule": fix,
        "systems": each.systems,
        "versions": each.versions,
        "seen": each.seen,
        "source": ", ".join(f"<{source}>" for source in each.sources),
    }
    table = "".join(f"| {key} | {value.replace('|', chr(92) + '|')} |\n" for key, value in rows.items() if value)
    rule = next(rule for rule in table_file().rules if rule.name == each.name)
    program = example(rule.examples[0])
    return (
        f"### {each.name}\n\n`{each.operation}` {each.happens}.\n\n| | |\n|---|---|\n{table}\n"
        f"```mil\nprogram(1.3)\n{{\n{program}\n}}\n```\n"
    )


def example(name: str) -> str:
    """Return the text of an example, with its function called `main`."""
    file = table_file()
    root = file.read.written_root or file.read.root
    assert root is not None, "a Program was read from it"
    function = next(each for each in functions(root) if name_in(each) == name)
    return "    " + file.text[function.start : function.end].replace(name, "main", 1)


def main() -> None:
    """Write the page, or compare it with the file."""
    settle(__doc__, [(PAGE, page())])


if __name__ == "__main__":
    main()
