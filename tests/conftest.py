"""What the tests share: the corpus, how Programs are compared, and goldens with one switch that renews them."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from google.protobuf.message import Message

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # of numpy and torch: each core has a worker of pytest's
    os.environ.setdefault(threads, "1")
for colors in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):  # CI sets them for pytest's own output
    os.environ.pop(colors, None)

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
CORPUS = Path(os.environ.get("MILTEXT_CORPUS") or ROOT.parent / "shared" / "corpus")

pytest_plugins = ["support.browser", "support.checkouts"]  # their fixtures


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings in pyproject.toml of plugins that are not installed, as an extra alone lacks some."""
    parser.addoption(
        "--once", action="store_true", help="Run each test with the first of its cases only, but for `any_version`."
    )
    if find_spec("pytest_asyncio") is None:
        parser.addini("asyncio_default_fixture_loop_scope", "of pytest-asyncio, which pytest-lsp brings")
    if find_spec("pytest_timeout") is None:
        parser.addini("timeout", "of pytest-timeout")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background, where commands would ignore it, too
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # under nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    """List what is skipped in the file that MILTEXT_SKIPPED names, of which runs inside of this one do not know."""
    from support.skipped import Skipped

    listed = os.environ.pop("MILTEXT_SKIPPED", "")
    if listed:
        config.pluginmanager.register(Skipped(Path(listed)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looks for garbage; later looks pass over all of them, and are rare: each takes long."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under `--once`, keep the first case of each test, and none of a test that is marked `any_version`."""
    if config.getoption("--once"):
        first: dict[str, pytest.Item] = {}
        for item in items:
            if item.get_closest_marker("any_version") is None:
                first.setdefault(item.nodeid.partition("[")[0], item)
        config.hook.pytest_deselected(items=[*{*items}.difference(first.values())])
        items[:] = first.values()


@pytest.fixture(scope="module", autouse=True)
def _garbage_is_looked_for_among_new_objects() -> None:
    """Have looks for garbage pass over what earlier modules have left: a test that asks for a whole look waits less."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _nothing_waits_for_the_disk() -> Iterator[None]:
    """Have files be written without waiting for the disk, thousands of times: no test needs them after a power cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _pools_are_forked() -> Iterator[None]:
    """Have pools of processes fork although tqdm, once coremltools has used it, has a thread: all that it does is wait.

    Processes beside other threads are spawned, and import all of miltext again.
    """
    from miltext.batches import processes

    def has_other_threads() -> bool:
        return any(each.name not in ("MainThread", "tqdm_monitor") for each in threading.enumerate())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "has_other_threads", has_other_threads)
        yield


@pytest.fixture(scope="session", autouse=True)
def _workers_share_programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have one worker build each of coremltools' programs: support/coremltools_programs.py keeps them there."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "programs"
    folder.mkdir(exist_ok=True)
    os.environ["MILTEXT_TEST_PROGRAMS"] = str(folder)


_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("few", max_examples=10, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("usual", max_examples=100, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("thorough", max_examples=3000, deadline=None, suppress_health_check=_SLOW)
PROFILE = os.environ.get("MILTEXT_HYPOTHESIS") or "usual"
settings.load_profile(PROFILE)

dear = settings(max_examples=40) if PROFILE == "usual" else settings()
"""For laws of programs that take long to make: usually fewer of them, as each has much in it. `thorough` has all."""


T = TypeVar("T")


def thinned(alike: Sequence[T], turn: int, step: int) -> Sequence[T]:
    """Every so manieth of cases that are near duplicates, other ones at each turn. `thorough` has all."""
    return alike if PROFILE == "thorough" else alike[turn % step :: step]


def corpus_files(*patterns: str) -> list[Any]:
    """The corpus' files that match, as parameters of a test: one that is skipped, with the reason, without a corpus."""
    files = sorted(path for pattern in patterns for path in CORPUS.glob(pattern))
    if not files:
        reason = f"no {' or '.join(patterns)} in the corpus {CORPUS}; MILTEXT_CORPUS names another folder"
        return [pytest.param(CORPUS, marks=pytest.mark.skip(reason=reason), id="no-corpus")]
    return [pytest.param(path, id=path.relative_to(CORPUS).as_posix()) for path in files]


def wire(program: Message) -> bytes:
    """A message as bytes, to compare: `==` tells neither NaN from NaN nor -0.0 from 0.0 on every protobuf."""
    return program.SerializeToString(deterministic=True)


class _Rules:
    """Callbacks that count the phrases of a text by their rules."""

    def __init__(self) -> None:
        self.read: Counter[str] = Counter()

    def __getattr__(self, rule: str) -> Callable[[list[Any]], None]:
        return lambda _: self.read.update([rule])


def rules_read(text: str, *, fast: bool) -> Counter[str]:
    """How often each rule of the grammar reads a phrase of a text, with or without the coarse tokens."""
    from miltext.syntax.lexer import COARSE, FINE
    from miltext.syntax.parser import Parser

    rules = _Rules()
    Parser(rules, COARSE if fast else FINE).run(text)
    return rules.read


Check = Callable[[Path, str], None]


@pytest.fixture
def matches_golden(request: pytest.FixtureRequest) -> Check:
    """A check that a file holds a text; under `--mil-update`, miltext's own switch, it writes the file instead."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--mil-update"):
            path.write_bytes(text.encode())
            return
        expected = path.read_bytes().decode() if path.exists() else None
        place = request.node.nodeid.split("[")[0]
        assert text == expected, f"{path.name} says something else; to accept it: pytest --mil-update {place}"

    return check


SLOW_IMPORTS = ("lark", "numpy", "coremltools", "pygments")


def slow_imports(*arguments: object) -> list[str]:
    """Which of SLOW_IMPORTS the command imports, in a process of its own, before it ends well."""
    code = (
        f"import json, sys, runpy\nsys.argv = {['miltext', *map(str, arguments)]!r}\n"
        "try:\n    runpy.run_module('miltext', run_name='__main__')\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        f"print(json.dumps([name for name in {SLOW_IMPORTS} if name in sys.modules]), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.decode()
    imported: list[str] = json.loads(result.stderr)
    return imported
