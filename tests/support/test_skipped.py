"""The list of skipped tests, with which .ci/run tries them where torch and onnxruntime are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

TESTS = """
import pytest

pytest.importorskip("re")

@pytest.mark.parametrize("name", ["re", "no_module", "no_module [at::all]"])
def test_one(name):
    pytest.importorskip(name.partition(" ")[0])

@pytest.mark.skip(reason="never")
def test_two():
    pass

@pytest.mark.xfail(reason="known")
def test_three():
    assert False
"""


def test_the_list_names_tests_and_modules_that_pytest_accepts(tmp_path: Path) -> None:
    """With a process of pytest-xdist, as in CI."""
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "test_whole.py").write_text('import pytest\n\npytest.importorskip("no_module")\n')
    (tmp_path / "pytest.ini").touch()
    hooks = "from pathlib import Path\nfrom support.skipped import Skipped\n\n"
    hooks += "def pytest_configure(config):\n    if not hasattr(config, 'workerinput'):\n"
    (tmp_path / "conftest.py").write_text(f"{hooks}        config.pluginmanager.register(Skipped(Path('listed')))\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, "-n", "1"], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert b"1 passed, 4 skipped, 1 xfailed" in done.stdout, done.stdout
    listed = [line.split("\t") for line in (tmp_path / "listed").read_text().splitlines()]
    missing = "Skipped: could not import 'no_module': No module named 'no_module'"
    assert sorted(listed) == [
        [missing, "test_some.py::test_one[no_module [at::all]]"],
        [missing, "test_some.py::test_one[no_module]"],
        [missing, "test_whole.py"],
        ["Skipped: never", "test_some.py::test_two"],
    ]
    command += [name for _, name in listed]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert b"4 skipped in" in done.stdout, done.stdout
