"""The pytest plugin: programs pinned as MIL text in files beside the tests.

    def test_relu(mil_golden):
        mil_golden.check(convert(relu), "relu")

pins `test_ops/relu.mil` for a test in `test_ops.py`, weights by their digests; `mil_golden.numbers` pins the outputs of
a model in `test_ops/relu.numbers.npz`. `pytest --mil-update` writes the goldens anew. If all tests of a module pass,
goldens that none of them checked are reported; with `--mil-unused`, the run fails then.

pytest loads this module in every run: nothing else of miltext is imported before a test uses the fixture.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import pytest

from miltext.testing import ENDING, UPDATE_VARIABLE, check_numbers, compare, normalize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from miltext.testing import Normalization, Running

OPTION, UNUSED = "--mil-update", "--mil-unused"


class MilGolden:
    """The value of the fixture `mil_golden`: a check of programs against files in `folder`."""

    def __init__(self, folder: Path, updating: bool, command: str) -> None:
        self.folder = folder
        self.used: list[str] = []
        self._updating = updating
        self._command = command

    def check(self, source: Any, name: str, **choices: Unpack[Normalization]) -> None:
        """Assert that `name`.mil holds the program of `source`, or write it under `--mil-update`.

        `source` and `choices` are the arguments of `miltext.testing.normalize`. Raise AssertionError that shows the
        difference, ValueError for a name that leads elsewhere, and the errors of `normalize`.
        """
        __tracebackhide__ = True
        path = self._path(name, ".mil")
        compare(normalize(source, **choices), path, self._updating, self._command)

    def numbers(
        self, source: Any, name: str, inputs: Mapping[str, Any] | None = None, **choices: Unpack[Running]
    ) -> None:
        """Assert that `name`.numbers.npz holds the outputs of the model `source`, or write it under `--mil-update`.

        `inputs` and `choices` are the arguments of `miltext.compare`: without inputs, they are random by the `seed`,
        and outputs may be off by `min_snr` dB. Raise AssertionError that shows where the numbers began to differ, and
        the errors of `check`.
        """
        __tracebackhide__ = True
        check_numbers(source, self._path(name, ENDING), inputs, self._updating, self._command, **choices)

    def _path(self, name: str, ending: str) -> Path:
        """Return the path of a golden, and note its use. Raise ValueError for a name that leads elsewhere."""
        place = PurePath(name)
        if not place.name or ".." in place.parts or place.anchor:
            raise ValueError(f"{name!r} is not the name of a golden: give a path below {self.folder}, without `..`")
        path = self.folder / f"{name}{ending}"
        self.used.append(str(path))
        return path


def _command(test: pytest.Item) -> str:
    """Return the shell command that updates the goldens of a single case of a test.

    It names the test as pytest accepts it in the current folder: the relative path of the file, then the names of
    classes and the test. A node id of pytest-xdist has a group at its end, which pytest does not accept.
    """
    from miltext.diagnostics.wording import for_shell

    file = str(test.path)
    with suppress(ValueError):  # on another drive of Windows
        file = os.path.relpath(file, test.config.invocation_params.dir)
    classes = [node.name for node in test.listchain() if isinstance(node, pytest.Class)]
    return f"pytest {OPTION} {for_shell('::'.join([file, *classes, test.name]))}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that renews goldens."""
    group = parser.getgroup("miltext")
    group.addoption(OPTION, action="store_true", help="write the golden files anew")
    group.addoption(
        UNUSED, action="store_true", help="fail if all tests of a module passed, and left goldens unchecked"
    )


@pytest.fixture
def mil_golden_folder(request: pytest.FixtureRequest) -> Path:
    """Return the folder of the goldens: beside the test's file, and named after it. Override it to choose another."""
    return request.path.with_suffix("")


@pytest.fixture
def mil_golden(request: pytest.FixtureRequest, mil_golden_folder: Path) -> MilGolden:
    """Check programs against golden files of MIL text."""
    made = MilGolden(mil_golden_folder, request.config.getoption(OPTION), _command(request.node))
    request.node.stash[_GOLDEN] = made
    return made


# ---- goldens that nothing checks

_GOLDEN = pytest.StashKey[MilGolden]()
_REPORT = "mil_golden"
"""The attribute of a test's report for its goldens; pytest-xdist hands it to the process that gathers reports."""


class Goldens:
    """The goldens that a run checked: kept by each process that runs tests, and gathered from their reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._tests: Counter[str] = Counter()
        self._partial = bool(config.getoption("lf", False)) or any("::" in arg for arg in config.args)
        self._passed: Counter[str] = Counter()
        self._counts: dict[str, int] = {}  # of tests, by module
        self._folders: dict[str, set[str]] = {}  # the modules with goldens in each folder
        self._used: set[str] = set()
        self._is_whole = not any(config.getoption(name, None) for name in ("ignore", "ignore_glob", "maxfail"))

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the deselected tests of each module, too."""
        self._tests.update(_module(item.nodeid) for item in items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count each module's tests."""
        self._tests.update(_module(item.nodeid) for item in session.items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note that a module was left out, or cannot be imported."""
        self._is_whole &= report.passed

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Put the goldens that a test used into its report."""
        outcome = yield
        golden = item.stash.get(_GOLDEN, None)
        if golden is not None:
            count = -1 if self._partial else self._tests[_module(item.nodeid)]
            setattr(outcome.get_result(), _REPORT, [count, str(golden.folder), golden.used])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather the goldens of a report."""
        self._is_whole &= report.passed
        if report.when != "call" or not report.passed:
            return
        module = _module(report.nodeid)
        self._passed[module] += 1
        noted = getattr(report, _REPORT, None)
        if noted:
            count, folder, used = noted
            self._counts[module] = count
            self._folders.setdefault(os.path.realpath(folder), set()).add(module)
            self._used.update(map(os.path.realpath, used))

    def unused(self) -> list[Path]:
        """Return the goldens that no test checked, in folders whose tests all ran and passed."""
        folders = [Path(folder) for folder, modules in self._folders.items() if self._is_known(Path(folder), modules)]
        endings = ("*.mil", f"*{ENDING}")
        found = {path for folder in folders for end in endings for path in folder.rglob(end) if _is_in(folder, path)}
        return sorted(path for path in found if os.path.realpath(path) not in self._used)

    def _is_known(self, folder: Path, modules: set[str]) -> bool:
        """Whether all tests that may have goldens in a folder ran and passed. These are the tests of the module with
        the folder's name; for another folder, all tests of the run, which must include every test around the folder.
        """
        if any(self._passed[module] != self._counts[module] for module in modules):
            return False
        config, here = self._config, self._config.invocation_params.dir
        if {os.path.realpath((config.rootpath / module).with_suffix("")) for module in modules} == {str(folder)}:
            return True
        named = [Path(os.path.realpath(here / arg)) for arg in config.args]
        is_all = config.args_source == config.ArgsSource.TESTPATHS or any(each in folder.parents for each in named)
        return is_all and self._is_whole and all(self._passed[each] == count for each, count in self._tests.items())

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """With `--mil-unused`, make a run fail that leaves goldens unchecked."""
        is_asked = self._config.getoption(UNUSED) and not hasattr(self._config, "workerinput")
        if is_asked and session.exitstatus == pytest.ExitCode.OK and self.unused():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Report the goldens that nothing checks."""
        unused = self.unused()
        if unused:
            terminalreporter.section("unused goldens", yellow=True)
            for path in unused:
                terminalreporter.line(os.path.relpath(path, self._config.invocation_params.dir))
            terminalreporter.line("No test checks these: delete them, or restore the missing test.")


def _is_in(folder: Path, path: Path) -> bool:
    """Whether a file in a folder of goldens does not belong to a deeper module."""
    return not any(each.with_suffix(".py").exists() for each in path.parents if folder in each.parents)


def _module(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def pytest_configure(config: pytest.Config) -> None:
    """Register the report of goldens, and set the switch for `miltext.testing.assert_matches_golden`."""
    config.pluginmanager.register(Goldens(config), "miltext-goldens")
    if config.getoption(OPTION):
        environment = pytest.MonkeyPatch()
        environment.setenv(UPDATE_VARIABLE, "1")
        config.add_cleanup(environment.undo)
