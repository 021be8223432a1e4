"""Make docs/operations.md, the page of all operations, from their table and entries; `--check` fails if it is stale."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from miltext.reference.markdown import operations_page

PAGE = Path(__file__).resolve().parents[1] / "docs" / "operations.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if the page is stale")
    check = parser.parse_args().check
    made = operations_page()
    if made == (PAGE.read_text(encoding="utf-8") if PAGE.exists() else None):
        return
    if check:
        sys.exit(f"stale: {PAGE.name} (run scripts/make_operations_page.py)")
    PAGE.write_text(made, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
