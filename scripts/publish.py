"""Say where miltext lives, once it is published: `python scripts/publish.py --home https://HOST/OWNER/NAME`.

It writes the URL of the repository into `src/miltext/diagnostics/home.py`, which alone knows it. The build of the
package makes its URLs and README's links of that, and the site its address and its links to the repository. Pages and
editors that name how miltext, an extra of it or its hooks are installed get the words for what is published.
`--dry-run` shows all of that as a patch, and writes nothing. Run again with another home, it writes that one.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
HOME, HOOKS, EXTENSION = "src/miltext/diagnostics/home.py", "docs/review-in-ci.md", "editors/vscode/package.json"
"""The files that name the home once it is known; HOME alone says it to the code."""
PLACES = ("README.md", "docs/**/*.md", "editors/**/*.md", "editors/vscode/*.js*", "website/pages/*.md")
"""The files whose readers install something."""


class Rule(NamedTuple):
    """What is written before miltext is published, anywhere or in one file, and after; spaces may be line breaks."""

    before: str
    after: str
    file: str | None = None


def rules(root: Path, home: Any, url: str) -> list[Rule]:
    """Return all that a new home changes, except for the one place that knows it."""
    pyproject = (root / "pyproject.toml").read_text(encoding="utf-8")
    (version,) = re.findall(r'^version = "(.+)"$', pyproject, re.MULTILINE)
    old, home.HOME = home.HOME, ""
    unpublished = home.install("EXTRA")
    home.HOME = url
    published = home.install("EXTRA")
    home.HOME = old
    return [
        Rule(_pattern(unpublished).replace("EXTRA", r"(\w+)"), published.replace("EXTRA", r"\1")),
        Rule(_pattern("`pip install .` in a checkout, or `pip install WHEEL` with its wheel"), "`pip install miltext`"),
        Rule(_pattern("Put miltext's wheel into the repository, and replace `WHEEL` by its path. "), ""),
        Rule(r"(?<=run: )pip install WHEEL", "pip install miltext"),
        Rule(_pattern(" (here a clone beside yours)"), ""),
        Rule(
            r"(?<=- repo: )\S+\n    rev: \S+(?=\n    hooks:\n      - id: miltext-)",
            f"{url}\n    rev: v{version}",
            HOOKS,
        ),
        Rule(r'(?<="license": "MIT",)\n(?:  "repository": .*\n)?', f'\n  "repository": "{url}",\n', EXTENSION),
    ]


def _pattern(words: str) -> str:
    """Return a pattern of words between which lines may be broken."""
    return re.sub(r"(?:\\ )+", r"\\s+", re.escape(words))


def changes(root: Path, url: str) -> dict[str, tuple[str, str]]:
    """Return each file that changes, by its path below `root`, as it is and as it becomes."""
    sys.path.insert(0, str(root))
    from hatch_build import home_of

    made = rules(root, home_of(root), url)
    found = {}
    for path in sorted({path for place in PLACES for path in root.glob(place) if "node_modules" not in path.parts}):
        name, before = path.relative_to(root).as_posix(), _read(path)
        after = before
        for rule in made:
            if rule.file in (None, name):
                after = re.sub(rule.before, rule.after, after)
        found[name] = (before, after)
    before = _read(root / HOME)
    found[HOME] = (before, re.sub(r'^HOME = ".*"$', f'HOME = "{url}"', before, flags=re.MULTILINE))
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")  # with the line ends that it has


def home_url(word: str) -> str:
    """Return the URL of a repository as it is written. Raise ArgumentTypeError for another word."""
    url = word.rstrip("/").removesuffix(".git")
    if not re.fullmatch(r"https://[\w.-]+(?::\d+)?(?:/[\w.~-]+)+", url):
        raise argparse.ArgumentTypeError(f"{word} is not the URL of a repository, as in https://HOST/OWNER/NAME")
    return url


def main(arguments: list[str] | None = None, root: Path = ROOT) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", required=True, type=home_url, metavar="URL", help="the URL of the repository")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and write nothing")
    asked = parser.parse_args(arguments)
    found = changes(root, asked.home)
    for name, (before, after) in found.items():
        if asked.dry_run:
            lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}")
            sys.stdout.writelines(lines)
        else:
            (root / name).write_bytes(after.encode("utf-8"))
            print(f"wrote {name}")
    if not found:
        print(f"{asked.home} is the home already")


if __name__ == "__main__":
    main()
