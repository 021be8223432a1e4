"""Try each extra in an environment of its own, as it is documented: `python scripts/try_extras.py --wheel WHEEL`.

An environment has the wheel, or for an extra of developers the checkout, with one extra, and nothing else. There a few
commands use what the extra is for. `--only EXTRA` tries one, several times several; `--without EXTRA` leaves one out.
`--in PYTHON` uses an environment that has the extra already. This needs pip 22.3 or later.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Trial(NamedTuple):
    """A program in Python that uses an extra, and whether that is run in the checkout, or in an empty folder."""

    code: str
    in_checkout: bool = False


MODEL = "from miltext.cli.demo_verb import model\n"

VERB = """
import subprocess, sys
def miltext(*words, **more):
    return subprocess.run([sys.executable, "-m", "miltext", *map(str, words)], check=True, **more)
"""

COREMLTOOLS = f"""{VERB}{MODEL}
miltext("check", "--with-coremltools", model())
"""

DASK = f"""{VERB}{MODEL}
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        miltext("check", "--executor", address, model())
"""

HYPOTHESIS = """
from hypothesis import given, settings
import miltext
from miltext.testing import programs
@settings(max_examples=3, deadline=None)
@given(programs(ops=(1, 3)))
def holds(program):
    assert miltext.parse(miltext.to_text(program)) == program
holds()
"""

IMAGES = f"""{VERB}
from pathlib import Path
import PIL.Image
text = "program(1.3) {{ func main<ios16>(tensor<fp32, [1, 1, 4, 4]> image) {{ y = relu(image); }} -> (y); }}"
Path("m.mil").write_text(text)
miltext("build", "m.mil", "-o", "Array.mlpackage")
described = miltext("describe", "Array.mlpackage", capture_output=True, text=True).stdout
head, name, rest = described.partition('name = "image"')
kept = rest.partition("[[")
words = '\\ntype = "image"\\ncolorSpace = "GRAYSCALE"\\nwidth = 4\\nheight = 4\\n\\n'
Path("m.toml").write_text(head + name + words + kept[1] + kept[2])
miltext("build", "m.mil", "--description", "m.toml", "-o", "Image.mlpackage")
PIL.Image.new("L", (4, 4), 7).save("a.png")
miltext("run", "Image.mlpackage", "--input", "image=a.png")
"""

LSP = f"""{VERB}
import json
asked = [{{"id": 1, "method": "initialize", "params": {{"capabilities": {{}}}}}}]
asked += [{{"method": "initialized", "params": {{}}}}, {{"id": 2, "method": "shutdown"}}, {{"method": "exit"}}]
sent = [json.dumps({{"jsonrpc": "2.0", **each}}).encode() for each in asked]
frames = b"".join(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(each), each) for each in sent)
said = miltext("lsp", input=frames, capture_output=True).stdout
assert b"hoverProvider" in said, said
"""

SAFETENSORS = f"""{VERB}
from pathlib import Path
import numpy as np
from safetensors.numpy import save_file
save_file({{"w": np.ones((2, 3), np.float16)}}, "w.safetensors")
head = "program(1.3) {{ func main<ios16>(tensor<fp16, [1, 3]> x) {{ y = linear(x, $safetensors("
Path("m.mil").write_text(head + '"w.safetensors", "w")); }} -> (y); }}')
miltext("build", "m.mil", "-o", "M.mlpackage")
"""

FUZZ = """
import platform, sys
if sys.platform == "linux" and platform.machine() == "x86_64" and sys.version_info >= (3, 11):
    import atheris
else:
    print("atheris has no wheel for this system and Python: the extra brings nothing")
"""

MODELS = """
import onnxruntime, torch
assert torch.ones(2).sum() == 2
"""

DEV = """
import subprocess, sys
subprocess.run([sys.executable, "scripts/make_descriptors.py", "--check"], check=True)
for words in ("ruff check scripts", "mypy --version", "pre_commit --version", "build --version"):
    subprocess.run([sys.executable, "-m", *words.split()], check=True)
"""

SITE = """
import subprocess, sys, tempfile
from pathlib import Path
there = Path("website/playground/node_modules").is_dir()
with tempfile.TemporaryDirectory() as folder:
    words = ["-m", "website", "build", "--out", f"{folder}/site", *([] if there else ["--no-playground"])]
    subprocess.run([sys.executable, *words], check=True)
"""

TRIALS = {
    "coremltools": Trial(COREMLTOOLS),
    "dask": Trial(DASK),
    "dev": Trial(DEV, in_checkout=True),
    "fuzz": Trial(FUZZ, in_checkout=True),
    "hypothesis": Trial(HYPOTHESIS),
    "images": Trial(IMAGES),
    "lsp": Trial(LSP),
    "models": Trial(MODELS, in_checkout=True),
    "safetensors": Trial(SAFETENSORS),
    "site": Trial(SITE, in_checkout=True),
}
"""What is tried of each extra but `test`, which README's second command installs alone, and uses."""


def made(folder: Path, source: str) -> Path:
    """Make an environment that has only what `source` names to pip, and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    named = [source] if ".whl[" in source else ["-e", source]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--disable-pip-version-check", *named]
    subprocess.run(pip, check=True)
    return python


def tried(extra: str, wheel: str | None, python: str | None) -> None:
    """Try an extra. Raise CalledProcessError for what fails."""
    trial = TRIALS[extra]
    with tempfile.TemporaryDirectory(prefix=f"miltext-{extra}-") as name:
        work = Path(name) / "work"
        work.mkdir()
        if python is None:
            where = str(ROOT) if trial.in_checkout or wheel is None else str(Path(wheel).resolve())
            python = str(made(Path(name) / "environment", f"{where}[{extra}]"))
        known = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        command = [python, "-c", trial.code]
        folder = ROOT if trial.in_checkout else work
        done = subprocess.run(
            command, cwd=folder, env=known, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        if done.returncode:
            sys.stdout.buffer.write(done.stdout + done.stderr)
            sys.exit(f"the extra `{extra}` alone does not do what it is for")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", help="the wheel that is installed; without it, the checkout")
    parser.add_argument("--only", action="append", choices=TRIALS, help="try this extra")
    parser.add_argument("--without", action="append", choices=TRIALS, default=[], help="leave out this extra")
    parser.add_argument(
        "--in", dest="python", metavar="PYTHON", help="the Python of an environment that has it already"
    )
    asked = parser.parse_args()
    for extra in asked.only or [extra for extra in TRIALS if extra not in asked.without]:
        started = time.perf_counter()
        tried(extra, asked.wheel, asked.python)
        print(f"{extra}: {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
