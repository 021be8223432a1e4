"""The benchmark of typing types what it says, and times each key. No time is looked at."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

import miltext

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.keystrokes import KINDS, PLACES, Typing, Typist

TEXT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 2]> x) {
            tensor<fp16, [1, 2]> a = relu(x = x)[name = string("a")];
            tensor<fp16, [1, 2]> b = tanh(x = a)[name = string("b")];
            tensor<fp16, [1, 2]> c = relu(x = b)[name = string("c")];
        } -> (c);
}
"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("kind", "codes"), [("name", [set()]), ("operation", [{"MIL010"}, set()]), ("type", [{"MIL701"}])]
)
def test_typed_text_has_its_kind(kind: str, codes: list[set[str]], place: str) -> None:
    """What is in the text after each key, but for the probe, which always tells the version."""
    typist = Typist(TEXT, place)
    text, seen = typist.text, []
    for key in itertools.islice(typist.keys(kind), 200):
        for change in typist.changes(key):
            line, start = change["range"]["start"].values()
            lines = text.splitlines(keepends=True)
            lines[line] = lines[line][:start] + change["text"] + lines[line][change["range"]["end"]["character"] :]
            text = "".join(lines)
        found = miltext.check(text)
        probed = [each for each in found if f"[{typist.version}]> here" in each.message]
        assert len(probed) == 1
        seen.append({each.code for each in found if each not in probed and "`probing`" not in each.message})
    for wanted in codes:
        assert any(wanted <= each if wanted else not each for each in seen)


def test_keys_are_timed() -> None:
    pytest.importorskip("pygls", reason="needs pygls: pip install -e '.[lsp]'")
    with Typing() as session:
        for kind in KINDS:
            times = session.typed(TEXT, kind, "middle", 0.6, asking=True)
            assert len(times.keys) > 3
            assert all(time > 0 for time in times.keys)
            assert {*times.answers} == {"textDocument/hover", "textDocument/completion"}
