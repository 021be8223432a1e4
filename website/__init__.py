"""The documentation site: `python -m website build` makes it of docs/, the code and the files here."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent
