"""A list of what a run skipped, for a run in another environment, which has what this one lacks."""

from __future__ import annotations

from pathlib import Path

import pytest


class Skipped:
    """A plugin that lists each skipped test or module: the reason, a tab, and what pytest takes as an argument."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._list(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._list(report)

    def _list(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{' '.join(reason.split())}\t{report.nodeid}\n")
