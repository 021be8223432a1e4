"""miltext's own fuzzing: `python -m fuzz`, told of in README.md beside this file. It needs the tests' requirements."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"

sys.path.insert(0, str(ROOT / "tests"))
