"""Files that a script generates: the script writes them, and with `--check` it compares them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def settle(purpose: str | None, files: Iterable[tuple[Path, str | bytes]]) -> None:
    """Write the files that differ from what is generated. With `--check`, write none, and exit with 1 if one differs.

    A later file may be generated from an earlier one, which is written before. `purpose` is the script's docstring.
    """
    parser = argparse.ArgumentParser(description=purpose, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    check = parser.parse_args().check
    stale: list[str] = []
    for path, made in files:
        data = made.encode() if isinstance(made, str) else made
        if path.exists() and path.read_bytes() == data:
            continue
        stale.append(path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name)
        print(f"{'stale' if check else 'written'}: {stale[-1]}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    if check and stale:
        sys.exit(f"{', '.join(stale)} {'is' if len(stale) == 1 else 'are'} stale: run python {sys.argv[0]}")
