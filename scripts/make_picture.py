"""Make the picture at the front of README.md: the output of three verbs, as a terminal shows it.

    python scripts/make_picture.py            # write docs/images/front.svg
    python scripts/make_picture.py --check    # exit with 1 if it is not up to date

The commands are run on the texts below; the picture is their output, and nothing else.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from generated import settle

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "front.svg"

OLD = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 32]> x) {
            tensor<fp16, [1, 64, 32]> hidden = relu(x = x);
            tensor<fp16, [1, 32]> pooled = reduce_mean(
                axes = tensor<int32, [1]>([1]), keep_dims = bool(false), x = hidden
            );
            tensor<fp16, [1, 32]> y = softmax(axis = int32(-1), x = pooled);
        } -> (y);
}
"""

NEW = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 32]> x) {
            tensor<fp16, [1, 64, 32]> hidden = silu(x = x);
            tensor<fp16, [1, 32]> pooled = reduce_mean(
                axes = tensor<int32, [1]>([1]), keep_dims = bool(false), x = hidden
            );
            tensor<fp16, [1, 32]> scaled = mul(x = pooled, y = fp16(0.5));
            tensor<fp16, [1, 32]> scores = softmax(axis = int32(1), x = scaled);
        } -> (scores);
}
"""

BROKEN = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 3]> x, tensor<fp16, [5, 4]> w) {
            tensor<fp16, [2]> s = reduce_sum(axes = tensor<int32, [1]>([1]), keepdims = bool(false), x = x);
            tensor<fp16, [2, 4]> y = matmul(x = x, y = w);
        } -> (y);
}
"""

PAIR = {"old.mil": OLD, "new.mil": NEW}

SESSION = (
    ("diff old.mil new.mil", PAIR),
    ("compare old.mil new.mil", PAIR),
    ("check model.mil", {"model.mil": BROKEN}),
)

COLORS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#56d4dd"}
"""Colours of a terminal by their numbers; what is bright stands for the same."""

FOREGROUND, BACKGROUND, FAINT = "#e6edf3", "#0d1117", "#8b949e"

ADVANCE, LINE, MARGIN = 8.43, 20, 20
"""Pixels of a column, between two lines, and around the text, whose letters are 14 pixels high."""

_STYLED = re.compile(r"\x1b\[([0-9;]*)m")


def session() -> Iterator[str]:
    """Yield the lines of the session, with the colours of a terminal."""
    for words, texts in SESSION:
        with TemporaryDirectory() as folder:
            for name, text in texts.items():
                Path(folder, name).write_text(text, encoding="utf-8", newline="\n")
            run = [sys.executable, "-m", "miltext", "--color", "always", *words.split()]
            result = subprocess.run(run, cwd=folder, capture_output=True, encoding="utf-8", check=False)
            if result.returncode != 1:
                sys.exit(f"miltext {words} was to find something: {result.stderr}")
            yield f"\x1b[2m$\x1b[0m \x1b[1mmiltext {words}\x1b[0m"
            yield from result.stdout.splitlines()
            yield ""


def spans(line: str) -> Iterator[str]:
    """Yield the pieces of a line as SVG has them."""
    color, bold = "", False
    for index, piece in enumerate(_STYLED.split(line)):
        if index % 2:
            for code in piece.split(";") or ["0"]:
                if code in ("", "0"):
                    color, bold = "", False
                bold = bold or code == "1"
                color = FAINT if code == "2" else COLORS.get(code.replace("9", "3", 1), color)
        elif piece:
            style = f' fill="{color}"' * bool(color) + ' font-weight="bold"' * bold
            text = escape(piece).replace(" ", "\xa0")  # which no viewer takes several of for one
            yield f"<tspan{style}>{text}</tspan>" if style else text


def picture() -> str:
    """Return the picture."""
    lines = list(session())[:-1]
    width = round(2 * MARGIN + ADVANCE * max(len(_STYLED.sub("", line)) for line in lines))
    texts = [
        f'<text x="{MARGIN}" y="{MARGIN + LINE * number + 14}">{"".join(spans(line))}</text>\n'
        for number, line in enumerate(lines)
        if line
    ]
    height = 2 * MARGIN + LINE * len(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' role="img" aria-label="What miltext diff and miltext check say of two small programs">\n'
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>\n'
        f'<g fill="{FOREGROUND}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14"'
        f">\n{''.join(texts)}</g>\n</svg>\n"
    )


def main() -> None:
    """Write the picture, or compare it with the file."""
    settle(__doc__, [(PICTURE, picture())])


if __name__ == "__main__":
    main()
