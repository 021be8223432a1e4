"""Make docs/operations.md, the page of all operations, from their table and entries; `--check` fails if it is stale."""

from __future__ import annotations

from pathlib import Path

from generated import settle

from miltext.reference.markdown import operations_page

PAGE = Path(__file__).resolve().parents[1] / "docs" / "operations.md"


def main() -> None:
    """Write the page, or compare it with the file."""
    settle(__doc__, [(PAGE, operations_page())])


if __name__ == "__main__":
    main()
