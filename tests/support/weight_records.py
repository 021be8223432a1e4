"""Weight files byte by byte, for tests: headers and records that say what they are told to."""

from __future__ import annotations

import re
import struct
from typing import Any

import pytest

from miltext.files.refusals import WeightsError


def refused(code: str, *sayings: str) -> Any:
    return pytest.raises(
        WeightsError, match="(?s)" + re.escape(code) + "".join(f".*{re.escape(part)}" for part in sayings)
    )


def header(count: int = 1, version: int = 2) -> bytes:
    return struct.pack("<II56x", count, version)


def record(
    sentinel: int = 0xDEADBEEF, number: int = 2, size: int = 64, start: int = 128, padding: int = 0, reserved: int = 0
) -> bytes:
    return struct.pack("<IIQQQQ24x", sentinel, number, size, start, padding, reserved)
