"""Do what README says, as a newcomer does: `python3 scripts/walk_readme.py CLONE [--without WORDS]`.

It clones this repository into the folder CLONE, and runs README's blocks `sh` there, from the first to the last, as
they stand, in one shell. Its `python3` is the Python that runs this, and it has no settings of virtual environments.
A command that fails ends the walk, but for `miltext diff`, which ends with 1 where models differ. A block after
`<!-- not run: REASON -->` is skipped, and the walk reports it. It needs only Python, git and bash.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^(?:<!-- not run: (?P<reason>.+?) -->\n+)?```sh\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)

CHECK = r"""
__ended() {
    [[ $1 = 0 || ( $1 = 1 && $2 = "miltext diff "* ) ]] && return
    printf 'README: `%s` ended with %s\n' "$2" "$1" >&2
    exit 1
}
"""
"""What the shell asks after each line: one that failed ends it, but for a difference that is found."""

UNKNOWN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONDONTWRITEBYTECODE")
"""Variables of an environment that a newcomer does not have."""


class Block(NamedTuple):
    """Commands of a page, and the reason for which they are not run, if there is one."""

    text: str
    reason: str | None


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of commands in a page."""
    for found in BLOCK.finditer(page):
        yield Block(found["text"], found["reason"])


def script(page: str, *, without: str | None = None) -> str:
    """Return what bash is to run: the blocks of a page in order, each shown before it is run, line by line.

    Blocks that contain the words `without` are left out.
    """
    made = [CHECK]
    for block in blocks(page):
        left = block.reason or (f"it has `{without}`" if without and without in block.text else None)
        shown = f"(not run: {left})\n{block.text}" if left else block.text
        made.append(f"cat <<'__SHOWN'\n\n{shown}__SHOWN\n")
        made += [f"{line}\n__ended $? {shlex.quote(line)}\n" for line in ([] if left else lines(block))]
    return "".join(made)


def lines(block: Block) -> list[str]:
    """Return the commands of a block, each of which is a line, or several with a backslash at the ends."""
    return re.findall(r"(?:.*\\\n)*.+", block.text)


def environment(scratch: Path) -> dict[str, str]:
    """Return the environment of a newcomer, whose only Python is the one that runs this."""
    scratch.mkdir(parents=True)
    (scratch / "python3").symlink_to(sys.executable)
    kept = {name: value for name, value in os.environ.items() if name not in UNKNOWN}
    return {**kept, "PATH": f"{scratch}{os.pathsep}{kept['PATH']}", "GIT_PAGER": "cat"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path, help="the folder to make the clone in")
    parser.add_argument("--without", metavar="WORDS", help="leave out blocks with these words, such as pytest")
    asked = parser.parse_args()
    clone = asked.clone.resolve()
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    page = (clone / "README.md").read_text(encoding="utf-8")
    known = environment(clone.with_name(f"{clone.name}-bin"))
    command = ["bash", "-c", script(page, without=asked.without)]
    sys.exit(subprocess.run(command, cwd=clone, env=known, stdin=subprocess.DEVNULL, check=False).returncode)


if __name__ == "__main__":
    main()
