"""The pytest plugin, run by pytest in a project of its own: passing, failing, updating, unused, and under xdist."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy  # noqa: F401, ICN001  # a process can import it once, and pytester forgets what its runs import
import pytest
from conftest import ROOT

import miltext
import miltext.evaluation.subjects  # as numpy: a second copy of the messages' classes ends the process
from miltext.testing import assert_matches_golden

pytest_plugins = ["pytester"]

TEXT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
"""
HEAD = f"import miltext, pytest\nPROGRAM = miltext.parse({TEXT!r})\n"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with two tests and a golden for each of them."""
    write(pytester, "one", "two")
    for name in ("one", "two"):
        golden(pytester, name).parent.mkdir(exist_ok=True)
        golden(pytester, name).write_text(TEXT)
    return pytester


def write(pytester: pytest.Pytester, *names: str) -> None:
    tests = [f"def test_{name}(mil_golden):\n    mil_golden.check(PROGRAM, {name!r})\n" for name in names]
    pytester.makepyfile(test_ops=HEAD + "\n".join(tests))


def golden(pytester: pytest.Pytester, name: str) -> Path:
    return pytester.path / "test_ops" / f"{name}.mil"


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest("-p", "no:cacheprovider", *arguments)


def test_a_program_that_is_its_golden_passes(project: pytest.Pytester) -> None:
    result = run(project)
    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*unused goldens*")


def test_a_failure_shows_the_difference_and_the_command(project: pytest.Pytester) -> None:
    golden(project, "two").write_text(TEXT.replace("relu", "softsign"))
    result = run(project)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*the program differs from *two.mil:*", "*pytest --mil-update test_ops.py::test_two"])
    shown = [line for line in result.outlines if line.startswith("E ")]
    assert any("softsign" in line for line in shown)
    assert any("relu" in line for line in shown)
    assert golden(project, "two").read_text() != TEXT


CASES = ["plain", "two words", "a[0]", "it's", 'say "hi"', "$HOME", "a\\b", "a::b", "größe", "a]b", "`id`", "x;y", ""]
"""Values of a parameter, whose ids are awkward in a shell, in pytest, or in both."""

IN_CASES = f"""
CASES = {CASES!r}

class TestInside:
    @pytest.mark.xdist_group("together")
    @pytest.mark.parametrize("case", CASES)
    def test_case(self, mil_golden, case):
        mil_golden.check(PROGRAM, f"case{{CASES.index(case)}}")
"""


@pytest.mark.parametrize(
    "workers", [(), ("-n", "1"), ("-n", "1", "--dist", "loadgroup")], ids=["alone", "xdist", "groups"]
)
def test_the_command_updates_the_goldens_of_one_case(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    if workers:
        pytest.importorskip("xdist", reason="needs pytest-xdist")
    (pytester.path / "inside").mkdir()
    (pytester.path / "pytest.ini").write_text("[pytest]\n")
    (pytester.path / "inside" / "test_ops.py").write_text(HEAD + IN_CASES, encoding="utf-8")
    goldens = [pytester.path / "inside" / "test_ops" / f"case{place}.mil" for place in range(len(CASES))]
    wrong = TEXT.replace("relu", "softsign")
    goldens[0].parent.mkdir()
    for path in goldens:
        path.write_text(wrong)
    os.chdir(pytester.path / "inside")
    result = run(pytester, *workers)
    result.assert_outcomes(failed=len(CASES))
    lines = [line.partition("accept it: ")[2] for line in result.outlines if "accept it: " in line]
    commands = [*dict.fromkeys(lines)]  # where CI is set, the summary has them, too
    assert len(commands) == len(CASES)
    for place, command in enumerate(commands):
        read = subprocess.run(
            command.replace("pytest", r"printf '%s\n'", 1), shell=True, check=True, capture_output=True
        )
        switch, case = read.stdout.decode().splitlines()
        run(pytester, switch, case).assert_outcomes(passed=1)
        written = [path for path in goldens if path.read_text() != wrong]
        assert len(written) == place + 1, f"{command} updated other goldens, too"


def test_a_golden_that_is_not_there_fails_and_is_not_written(project: pytest.Pytester) -> None:
    golden(project, "two").unlink()
    result = run(project)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*missing golden *two.mil", "*pytest --mil-update test_ops.py::test_two"])
    assert not golden(project, "two").exists()


def test_the_switch_writes_only_the_goldens_of_the_tests(project: pytest.Pytester) -> None:
    golden(project, "one").write_text("")
    golden(project, "two").unlink()
    (project.path / "test_ops" / "other.mil").write_text("kept")
    run(project, "--mil-update").assert_outcomes(passed=2)
    run(project).assert_outcomes(passed=2)
    assert [golden(project, name).read_text() for name in ("one", "two", "other")] == [TEXT, TEXT, "kept"]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_unused_goldens_are_reported(project: pytest.Pytester, workers: tuple[str, ...]) -> None:
    if workers:
        pytest.importorskip("xdist", reason="needs pytest-xdist")
    (project.path / "test_ops" / "old.mil").write_text(TEXT)
    result = run(project, *workers)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*unused goldens*", f"{Path('test_ops') / 'old.mil'}"])
    assert [line for line in result.outlines if line.endswith(".mil")] == [str(Path("test_ops") / "old.mil")]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_unused_goldens_fail_a_run_on_request(project: pytest.Pytester, workers: tuple[str, ...]) -> None:
    if workers:
        pytest.importorskip("xdist", reason="needs pytest-xdist")
    old = project.path / "test_ops" / "old.mil"
    assert run(project, "--mil-unused", *workers).ret == pytest.ExitCode.OK
    old.write_text(TEXT)
    result = run(project, "--mil-unused", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*unused goldens*", f"{Path('test_ops') / 'old.mil'}", "*delete them*"])
    run(project, "--mil-unused", "--mil-update", *workers)
    assert old.exists(), "a golden is never deleted"


SHARED = "import pytest\n@pytest.fixture\ndef mil_golden_folder(request):\n    return request.path.parent / 'pinned'\n"

NOT_RUN = {
    "fails": "def test(mil_golden):\n    assert False\n",
    "skipped": "import pytest\n@pytest.mark.skip\ndef test(mil_golden):\n    mil_golden.check(PROGRAM, 'more')\n",
    "left out": "import pytest\npytest.importorskip('absent_module')\n",
    "not collected": "import absent_module\n",
}


@pytest.mark.parametrize("body", NOT_RUN.values(), ids=NOT_RUN)
def test_tests_that_did_not_run_may_use_shared_goldens(project: pytest.Pytester, body: str) -> None:
    project.makeconftest(SHARED)
    run(project, "--mil-update").assert_outcomes(passed=2)
    (project.path / "pinned" / "more.mil").write_text(TEXT)
    project.makepyfile(test_more=HEAD + body)
    result = run(project, "--mil-unused", "--continue-on-collection-errors", ".")
    result.stdout.no_fnmatch_line("*unused goldens*")


@pytest.mark.parametrize(
    "arguments", [("-k", "one"), ("--ignore", "test_more.py"), ("--deselect", "test_more.py::test")]
)
def test_an_omitted_part_may_use_shared_goldens(project: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    project.makeconftest(SHARED)
    project.makepyfile(test_more=HEAD + "def test(mil_golden):\n    mil_golden.check(PROGRAM, 'more')\n")
    run(project, "--mil-update").assert_outcomes(passed=3)
    assert run(project, "--mil-unused", *arguments, ".").ret == pytest.ExitCode.OK


def test_module_may_have_two_folders_and_folder_two_spellings(project: pytest.Pytester) -> None:
    project.makeconftest(SHARED.replace("/ 'pinned'", "/ '.' / 'x' / '..' / 'pinned'"))
    inner = (
        "import pytest\nclass TestInner:\n    @pytest.fixture\n    def mil_golden_folder(self, request):\n"
        "        return request.path.parent / 'pinned'\n"
        "    def test(self, mil_golden):\n        mil_golden.check(PROGRAM, 'more')\n"
    )
    (project.path / "x").mkdir()
    project.makepyfile(test_more=HEAD + inner)
    run(project, "--mil-update").assert_outcomes(passed=3)
    assert run(project, "--mil-unused").ret == pytest.ExitCode.OK
    (project.path / "pinned" / "old.mil").write_text(TEXT)
    result = run(project, "--mil-unused")
    assert [line for line in result.outlines if line.endswith(".mil")] == [str(Path("pinned") / "old.mil")]


def test_a_module_inside_folder_of_another_has_its_own_goldens(project: pytest.Pytester) -> None:
    (project.path / "test_ops" / "test_inner.py").write_text("")
    (project.path / "test_ops" / "test_inner").mkdir()
    (project.path / "test_ops" / "test_inner" / "own.mil").write_text(TEXT)
    assert run(project, "--mil-unused", "test_ops.py").ret == pytest.ExitCode.OK


def test_goldens_of_several_modules_in_one_folder(project: pytest.Pytester) -> None:
    project.makeconftest(
        "import pytest\n@pytest.fixture\ndef mil_golden_folder(request):\n    return request.path.parent / 'pinned'\n"
    )
    project.makepyfile(test_more=HEAD + "def test(mil_golden):\n    mil_golden.check(PROGRAM, 'more')\n")
    run(project, "--mil-update").assert_outcomes(passed=3)
    result = run(project, "test_ops.py", "--mil-unused")
    assert result.ret == pytest.ExitCode.OK, "the other module's golden is not unused"
    project.path.joinpath("test_more.py").unlink()
    for arguments in ((), (".",)):
        result = run(project, "--mil-unused", *arguments)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines([f"{Path('pinned') / 'more.mil'}"])


@pytest.mark.parametrize(
    "arguments", [("-k", "one"), ("test_ops.py::test_one",), ("--lf", "-p", "cacheprovider")], ids=lambda part: part[0]
)
def test_a_part_of_a_module_is_silent_of_the_rest(project: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    result = project.runpytest(*arguments)
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*unused goldens*")


def test_a_failing_module_does_not_report_unused_goldens(project: pytest.Pytester) -> None:
    golden(project, "one").write_text("")
    (project.path / "test_ops" / "old.mil").write_text(TEXT)
    run(project).stdout.no_fnmatch_line("*unused goldens*")


def test_updating_under_xdist_writes_whole_files(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    pytester.makepyfile(
        test_ops=HEAD + "@pytest.mark.parametrize('number', range(24))\ndef test(number, mil_golden):\n"
        "    mil_golden.check(PROGRAM, f'part/{number % 12}')\n"
    )
    run(pytester, "-n", "2", "--mil-update").assert_outcomes(passed=24)
    files = sorted(path for path in (pytester.path / "test_ops").rglob("*") if path.is_file())
    assert [path.read_text() for path in files] == [TEXT] * 12


def test_the_folder_is_a_fixture_to_override(project: pytest.Pytester) -> None:
    project.makeconftest(
        "import pytest\n@pytest.fixture\ndef mil_golden_folder(request):\n    return request.path.parent / 'pinned'\n"
    )
    run(project, "--mil-update").assert_outcomes(passed=2)
    assert (project.path / "pinned" / "one.mil").read_text() == TEXT


@pytest.mark.parametrize("name", ["", "../one", "/one"])
def test_a_name_stays_in_the_folder(project: pytest.Pytester, name: str) -> None:
    project.makepyfile(test_ops=HEAD + f"def test(mil_golden):\n    mil_golden.check(PROGRAM, {name!r})\n")
    result = run(project, "--mil-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ValueError:*is not the name of a golden*"])


def test_weights_are_pinned_by_default(pytester: pytest.Pytester) -> None:
    shutil.copytree(ROOT / "examples" / "Classifier.mlpackage", pytester.path / "M.mlpackage")
    for name, choice in (("pinned", ""), ("not_pinned", ", digest_weights=False")):
        pytester.makepyfile(
            **{f"test_{name}": "import miltext\ndef test(mil_golden):\n    model = miltext.load('M.mlpackage')\n"
               f"    mil_golden.check(model, 'one', rename_values=True, drop_names=True{choice})\n"}
        )  # fmt: skip
    run(pytester, "--mil-update").assert_outcomes(passed=2)
    weights = next((pytester.path / "M.mlpackage").rglob("weight.bin"))
    weights.write_bytes(weights.read_bytes()[:128] + b"\7" + weights.read_bytes()[129:])
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_pinned.py::test*"])
    run(pytester, "--mil-update").assert_outcomes(passed=2)
    run(pytester).assert_outcomes(passed=2)


def test_the_switch_reaches_unittest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_unit=HEAD + "import unittest\nfrom miltext.testing import assert_matches_golden\n"
        "class TestOps(unittest.TestCase):\n    def test(self):\n        assert_matches_golden(PROGRAM, 'unit.mil')\n"
    )
    run(pytester).assert_outcomes(failed=1)
    run(pytester, "--mil-update").assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=1)
    assert (pytester.path / "unit.mil").read_text() == TEXT


def test_without_pytest_a_variable_is_the_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "golden.mil"
    program = miltext.parse(TEXT)
    with pytest.raises(AssertionError, match="MIL_UPDATE=1"):
        assert_matches_golden(program, path)
    monkeypatch.setenv("MIL_UPDATE", "1")
    assert_matches_golden(program, path)
    assert path.read_text() == TEXT
    assert_matches_golden(miltext.parse(TEXT.replace("relu", "tanh")), path, update=True)
    with pytest.raises(AssertionError, match=r"(?s)differs from .*golden\.mil:.*tanh.*relu"):
        assert_matches_golden(program, path, update=False)


def test_loading_the_plugin_imports_nothing_of_ours() -> None:
    code = (
        "import sys, pytest, miltext.pytest_plugin\nprint(*[name for name in sys.modules if name.split('.')[0] in %r])"
    )
    heavy = ("lark", "numpy", "google", "pygments", "coremltools", "miltext")
    before = subprocess.run([sys.executable, "-c", code.replace(", miltext.pytest_plugin", "") % (heavy,)],
                            capture_output=True, text=True, check=True, cwd=ROOT)  # fmt: skip
    after = subprocess.run([sys.executable, "-c", code % (heavy,)], capture_output=True, text=True, check=True)
    assert {*after.stdout.split()} - {*before.stdout.split()} == {
        "miltext",
        "miltext.pytest_plugin",
        "miltext.testing",
        "miltext.testing.generated",
        "miltext.testing.golden",
        "miltext.testing.numbers",
    }
