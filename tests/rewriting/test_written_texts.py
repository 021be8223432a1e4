"""Texts that a rewriting writes: references to arrays stay, and lost comments are reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import miltext
from miltext.diagnostics import codes

DRAFT = """\
// a draft
program(1.3)
{
    func main<ios17>(tensor<fp16, [1, 2, 4, 4]> x) {
            w = const()[val = tensor<fp16, [3, 2, 1, 1]>($npy("w.npy"))];  // "the weight"
            v = const()[val = tensor<fp16, [3, 2, 1, 1]>(fp16 $npy("s (1).npy"))];
            q = const()[val = tensor<fp16, [4]>($npz("q.npz", "a"))];
            c = conv(x, w);
            d = conv(x, mul(v, 1.0));
            y = add(add(c, d), q);
            z = relu(relu(y));
        } -> (z);
}
"""

REFERENCES = ('$npy("w.npy")', 'fp16 $npy("s (1).npy")', '$npz("q.npz", "a")')

DOUBLED = """\
program(1.3)[rules = "1"]
{
    func find_s(x, w)[where = "highest(w) < 2"] {
            y = conv(x, w, bias = _);
        } -> (y);
    func replace_s(x, w) {
            y = conv(x, mul(w, 2.0));
        } -> (y);
}
"""

NARROW = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 3]> x) {
            v = const()[val = tensor<int4, [3, 4]>(int4 $npy("v.npy"))];
            w = const()[val = tensor<int4, [3, 4]>(int4 $npy("w.npy"))];
            k = const()[val = tensor<fp16, [3, 1]>([[0.5], [1.0], [2.0]])];
            y = matmul(x, constexpr_blockwise_shift_scale(data = v, scale = k));
            z = matmul(x, constexpr_blockwise_shift_scale(data = w, scale = k));
        } -> (y, z);
}
"""


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    np.save(tmp_path / "w.npy", np.arange(6, dtype=np.float16).reshape(3, 2, 1, 1) / 4)
    np.save(tmp_path / "s (1).npy", np.full((3, 2, 1, 1), 0.5, np.float16))
    np.savez(tmp_path / "q.npz", a=np.arange(4, dtype=np.float16))
    path = tmp_path / "draft.mil"
    path.write_text(DRAFT, encoding="utf-8")
    return path


def is_equal(one: Path, other: Path) -> bool:
    return bool(miltext.compare(one, other, seed=0, min_snr=np.inf).ok)


def test_references_to_arrays_stay(draft: Path) -> None:
    output = draft.with_name("new.mil")
    planned = miltext.optimize(draft)
    made = miltext.optimize(draft, output, verify=True)
    assert made.sites == planned.sites
    text = output.read_text(encoding="utf-8")
    assert all(text.count(each) == 1 for each in REFERENCES)
    assert miltext.check(output) == []
    assert is_equal(draft, output)
    assert miltext.optimize(output).replaced == []


def test_a_computed_constant_is_a_literal_beside_references(draft: Path) -> None:
    output = draft.with_name("new.mil")
    made = miltext.rewrite(draft, [DOUBLED], output, only="c", limit=1)
    assert len(made.replaced) == 1
    text = output.read_text(encoding="utf-8")
    assert [each in text for each in REFERENCES] == [False, True, True]
    given = {"x": np.ones((1, 2, 4, 4), np.float16)}
    assert (miltext.run(output, given)["z"] > miltext.run(draft, given)["z"]).any()


def test_equal_arrays_of_narrow_integers_become_one(tmp_path: Path) -> None:
    draft = tmp_path / "draft.mil"
    draft.write_text(NARROW, encoding="utf-8")
    for name in "vw":
        np.save(tmp_path / f"{name}.npy", np.arange(-6, 6, dtype=np.int8).reshape(3, 4))
    made = miltext.optimize(draft, tmp_path / "new.mil")
    assert [each.rule for each in made.replaced] == ["common-subexpressions"]
    assert is_equal(draft, tmp_path / "new.mil")


def test_a_text_is_not_written_without_its_arrays(draft: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    output = tmp_path / "elsewhere" / "new.mil"
    with pytest.raises(miltext.ModelError, match="would be in another folder") as failure:
        miltext.optimize(draft, output)
    assert failure.value.diagnostics[0].code == codes.ARRAYS_ELSEWHERE
    assert not output.exists()
    (tmp_path / "w.npy").unlink()
    with pytest.raises(miltext.ParseError, match=r"w\.npy") as missing:
        miltext.optimize(draft, tmp_path / "new.mil")
    assert missing.value.diagnostics[0].code == codes.MISSING_ARRAY_FILE


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", "2 comments of the text are not in the result"),
        ("// a draft\n", "", "1 comment of the text is not in the result"),
        (' // "the weight"', " /* the weight */", "2 comments of the text are not in the result"),
    ],
)
def test_lost_comments_are_reported(old: str, new: str, message: str, draft: Path) -> None:
    draft.write_text(DRAFT.replace(old, new, 1), encoding="utf-8")
    made = miltext.optimize(draft, draft.with_name("new.mil"))
    assert [(each.code, each.message) for each in made.warnings] == [("MIL407", message)]
    assert miltext.optimize(draft).warnings == []
    assert miltext.optimize(draft, draft.with_name("New.mlpackage")).warnings == []


def test_a_text_without_comments_has_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "plain.mil"
    path.write_text(
        "program(1.3)\n{\n    func main<ios17>(tensor<fp16, [2]> x) {\n            y = relu(relu(x))"
        '[name = "http://y"];\n        } -> (y);\n}\n',
        encoding="utf-8",
    )
    assert miltext.optimize(path, tmp_path / "new.mil").warnings == []
