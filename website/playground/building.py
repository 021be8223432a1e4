"""Building the playground: a folder of files that any server of static files can serve, from any path.

The page's scripts are bundled by esbuild. Python is Pyodide's, from npm. miltext is its wheel, and what it needs is
taken from this environment; the Python that runs it compiles all of it ahead of time.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.metadata import files
from pathlib import Path

from miltext.printing.graph import SCRIPTS, STYLE
from miltext.printing.html_page import COLOURS, TOKENS
from website.playground.highlighting import rules

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = HERE / "page"
MODULES = HERE / "node_modules"

PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""The files of npm's package that the worker loads."""

NEEDED = {
    "protobuf": ("google/*.py",),
    "Pygments": ("pygments/*.py",),
}
"""The files that are taken of what miltext needs: what a page asks uses no more. Pygments' other lexers are large."""

LEFT_OUT = ("pygments/lexers/*", "pygments/styles/*", "pygments/formatters/*", "*/__pycache__/*")

SESSION = ("session.py", "opened_files.py", "lost_numbers.py")
"""The modules of this package that run in the page."""


class BuildError(RuntimeError):
    """What keeps the playground from being built, and the way out."""


def build(out: Path, site: str = "../", codes: str = "../diagnostics/") -> None:
    """Make the playground in a folder, which is replaced. `site` and `codes` lead from it to the site and its codes."""
    if not MODULES.is_dir():
        raise BuildError(f"Pyodide and esbuild are not installed: run `npm ci` in {HERE.relative_to(ROOT)}")
    shutil.rmtree(out, ignore_errors=True)
    (out / "pyodide").mkdir(parents=True)
    for name in PYODIDE:
        shutil.copyfile(MODULES / "pyodide" / name, out / "pyodide" / name)
    _bundle(out, site, codes)
    with tempfile.TemporaryDirectory() as folder:
        _gather(Path(folder))
        _run("node", HERE / "compile.mjs", folder, out / "python.zip")


def _run(*command: str | Path) -> None:
    """Run a program. Raise BuildError with what it says, if it fails."""
    parts = [str(part) for part in command]
    try:
        done = subprocess.run(parts, cwd=HERE, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except FileNotFoundError as failure:
        raise BuildError(f"{parts[0]} is not installed") from failure
    if done.returncode:
        raise BuildError(f"{' '.join(parts)}:\n{done.stdout}{done.stderr}")


# ---- the page


def _bundle(out: Path, site: str, codes: str) -> None:
    """Write the page, its style and its scripts."""
    with tempfile.TemporaryDirectory(dir=HERE) as folder:  # below node_modules' folder, where esbuild looks for it
        work = Path(folder)
        shutil.copytree(PAGE, work, dirs_exist_ok=True)
        main = work / "main.js"
        main.write_text(main.read_text(encoding="utf-8").replace("{codes}", codes), encoding="utf-8")
        (work / "rules.json").write_text(json.dumps(rules()), encoding="utf-8")
        (work / "examples.json").write_text(json.dumps(examples()), encoding="utf-8")
        esbuild = MODULES / ".bin" / "esbuild"
        _run(esbuild, main, "--bundle", "--minify", "--format=esm", "--target=es2022", f"--outfile={out / 'main.js'}")
    shutil.copyfile(PAGE / "worker.js", out / "worker.js")
    (out / "style.css").write_text(_joined(COLOURS, TOKENS, STYLE, PAGE / "style.css"), encoding="utf-8")
    (out / "graph.js").write_text(_joined(*SCRIPTS), encoding="utf-8")
    page = (PAGE / "index.html").read_text(encoding="utf-8").replace("{site}", site)
    (out / "index.html").write_text(page, encoding="utf-8")


def _joined(*files: Path) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def examples() -> list[dict[str, str]]:
    """Return the examples by the order of their files' names; the first line of each begins with its title."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((HERE / "examples").glob("*.mil"))]
    return [{"title": text.partition(":")[0].removeprefix("// "), "text": text} for text in texts]


# ---- Python


def _gather(top: Path) -> None:
    """Put the modules into a folder: miltext as it is installed, what it needs, and what answers the page."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(_wheel(Path(folder))) as wheel:
        wheel.extractall(top, [name for name in wheel.namelist() if name.startswith("miltext/")])
    for source, name in _needed():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, top / name)
    package = top / "website" / "playground"
    package.mkdir(parents=True)
    for name in SESSION:
        shutil.copyfile(HERE / name, package / name)


def _wheel(folder: Path) -> Path:
    """Build miltext's wheel from this checkout."""
    code = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"the wheel cannot be built: {done.stderr}")
    return folder / done.stdout.split()[-1]


def _needed() -> Iterator[tuple[Path, str]]:
    """Yield the files of other packages, and their names below the module path."""
    for package, patterns in NEEDED.items():
        for file in files(package) or ():
            name = file.as_posix()
            if any(fnmatch(name, pattern) for pattern in patterns) and not any(fnmatch(name, out) for out in LEFT_OUT):
                yield Path(str(file.locate())), name
