"""`python -m website.playground OUT` builds the playground by itself."""

from __future__ import annotations

import sys
from pathlib import Path

from website.playground.building import BuildError, build


def main(arguments: list[str]) -> None:
    """Build the playground into the folder that is named. Raise SystemExit where that fails."""
    if len(arguments) != 1:
        raise SystemExit("usage: python -m website.playground OUT")
    try:
        build(Path(arguments[0]))
    except BuildError as failure:
        raise SystemExit(str(failure)) from None


if __name__ == "__main__":
    main(sys.argv[1:])
