"""What is shipped: the same files from the tree and from the sdist, the grammar found in every kind of install."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import tomlkit

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
GRAMMARS = {name: (ROOT / "grammar" / name).read_bytes() for name in ("mil.lark", "mil_fast.lark")}
DIAGNOSTICS = (ROOT / "docs" / "diagnostics.md").read_bytes()
READ_GRAMMAR = """
import site, sys
before = list(sys.path)
site.addsitedir(sys.argv[1])
sys.path[:] = [path for path in sys.path if path not in before] + before
from miltext.syntax import tables as grammar
print(grammar.__file__)
sys.stdout.flush()
sys.stdout.buffer.write(b"".join(grammar.grammar_file(name).read_bytes() for name in ("mil.lark", "mil_fast.lark")))
grammar.load_grammar()
for parser in grammar.lark_parser(), grammar.fast_lark_parser():
    parser.parse("program(1.3) {}")
"""

pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs the source tree")


def build(kind: str, tree: Path, out: Path) -> Path:
    """The archive that hatchling's `build_sdist`, `build_wheel` or `build_editable` makes of a tree."""
    pytest.importorskip("hatchling", reason="needs hatchling, which builds the package")
    code = f"from hatchling.build import build_{kind} as build; print(build({str(out)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def wheel_of_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    sdist = build("sdist", ROOT, folder)
    subprocess.run([sys.executable, "-m", "tarfile", "-e", str(sdist), str(folder)], check=True)
    (tree,) = (path for path in folder.iterdir() if path.is_dir())
    return build("wheel", tree, tmp_path_factory.mktemp("wheel_of_sdist"))


def contents(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as files:
        return {name: files.read(name) for name in files.namelist()}


def installed_grammar(archive: Path, folder: Path) -> tuple[Path, bytes]:
    """Unpack a wheel as an installer does; where it finds `miltext.syntax.tables`, and the grammars that one reads."""
    with zipfile.ZipFile(archive) as files:
        files.extractall(folder)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", READ_GRAMMAR, str(folder)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    place, _, text = done.stdout.partition(b"\n")
    return Path(place.decode().strip()), text.replace(b"\r\n", b"\n")


def test_wheel_holds_the_grammar_and_the_schema(wheel: Path) -> None:
    files = contents(wheel)
    assert {name: files[f"miltext/syntax/{name}"] for name in GRAMMARS} == GRAMMARS
    assert files["miltext/diagnostics/diagnostics.md"] == DIAGNOSTICS
    model = [path for path in EXAMPLE.rglob("*") if path.is_file()]
    assert len(model) == 3
    for path in model:  # which `miltext demo` shows
        assert files[f"miltext/cli/{path.relative_to(EXAMPLE.parent).as_posix()}"] == path.read_bytes()
    for name in (
        "py.typed",
        "schema/proto/MIL.binpb",
        "schema/proto/__init__.pyi",
        "schema/proto/LICENSE.Apple",
        "schema/ops.json",
        "reference/operations.txt",
        "syntax/tables.json",
        "syntax/keywords.json",
    ):
        assert files[f"miltext/{name}"] == (ROOT / "src" / "miltext" / name).read_bytes()


def test_wheel_holds_nothing_but_the_package(wheel: Path) -> None:
    folders = {name.split("/")[0] for name in contents(wheel)}
    assert folders == {"miltext", wheel.name.split("-py3")[0] + ".dist-info"}


def test_wheel_out_of_the_sdist_is_the_same(wheel: Path, wheel_of_sdist: Path) -> None:
    assert contents(wheel_of_sdist) == contents(wheel)


@pytest.mark.parametrize("source", ["wheel", "wheel_of_sdist"])
def test_installed_package_finds_the_grammar(source: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    place, text = installed_grammar(request.getfixturevalue(source), tmp_path)
    assert place.is_relative_to(tmp_path.resolve())
    assert text == b"".join(GRAMMARS.values())


def test_editable_install_finds_the_grammar(tmp_path: Path) -> None:
    editable = build("editable", ROOT, tmp_path)
    assert not {f"miltext/syntax/{name}" for name in GRAMMARS} & {*contents(editable)}
    place, text = installed_grammar(editable, tmp_path / "site")
    assert place.is_relative_to(ROOT / "src")
    assert text == b"".join(GRAMMARS.values())


# ---- what pyproject.toml asks for


def asked() -> tuple[list[str], dict[str, list[str]]]:
    """Return the requirements of the package, and those of its extras."""
    project: Any = tomlkit.parse((ROOT / "pyproject.toml").read_text(encoding="utf-8")).unwrap()["project"]
    return project["dependencies"], project["optional-dependencies"]


def test_each_extra_is_tried_by_itself() -> None:
    """`test` is what README's second block installs, and no other block has it."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import try_extras

    assert try_extras.TRIALS.keys() == asked()[1].keys() - {"test"}
    for extra, trial in try_extras.TRIALS.items():
        compile(trial.code, extra, "exec")


def test_the_oldest_versions_equal_the_promised_ones() -> None:
    """On the oldest Python, of all that the package needs and that its language server does."""
    requirements, extras = asked()
    lowest = dict(re.findall(r"^([\w-]+)>=([\d.]+)", "\n".join([*requirements, *extras["lsp"]]), re.MULTILINE))
    lines = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").splitlines()[1:]
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+)(?:; python_version < \"3.11\")?$", "\n".join(lines), re.MULTILINE))
    assert pinned.keys() == lowest.keys()
    assert [name for name in lowest if not f"{pinned[name]}.".startswith(f"{lowest[name]}.")] == []


def test_the_site_lists_its_needs() -> None:
    """The pages of the API and the playground's wheel need these, which tests have anyway."""
    site = " ".join(asked()[1]["site"])
    assert "pytest>=" in site
    assert "hatchling>=" in site
