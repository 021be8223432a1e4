"""`compare`: how near a value has to be follows what it is computed from, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from miltext import compare
from miltext.cli import command
from miltext.testing import assert_matches_numbers

GIVEN = {"x": np.random.default_rng(2).random((4, 8)).astype(np.float32)}

WAYS = {
    "neither": ("fp32", "fp32", 80),
    "both": ("fp16", "fp16", 50),
    "the new one": ("fp32", "fp16", 40),
    "the old one": ("fp16", "fp32", 40),
}
"""The data type of what is beside, in the old program and in the new one, and the threshold of what comes from it."""


def branches(beside: str, scale: float = 2.0, other: float = 3.0) -> str:
    """Return a draft with an output of fp32 alone, one that comes from a cast, and one that comes from both."""
    return f"""program(1.3) {{ func main<ios18>(tensor<fp32, [4, 8]> x) {{
        a = tanh(x = x);
        own = mul(x = a, y = {scale});
        c = cast(x = x, dtype = "{beside}");
        b = mul(x = c, y = {other});
        cast_back = cast(x = b, dtype = "fp32");
        both = add(x = own, y = cast_back);
    }} -> (own, cast_back, both); }}"""


@pytest.mark.parametrize("way", WAYS)
def test_a_cast_lowers_the_threshold_of_its_results_alone(way: str) -> None:
    old, new, lowered = WAYS[way]
    comparison = compare(branches(old), branches(new), GIVEN)
    assert {each.name: each.min_snr for each in comparison.outputs} == {
        "own": 80,
        "cast_back": lowered,
        "both": lowered,
    }
    values = {each.name: each.min_snr for each in comparison.values}
    assert (values["x"], values["a"]) == (80, 80)
    assert comparison.min_snr == lowered
    assert comparison.ok


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("noise", [48.0, 70.0])
def test_a_fault_in_an_untouched_branch_is_found(way: str, noise: float) -> None:
    old, new, _ = WAYS[way]
    scale = 2 * (1 + 10 ** (-noise / 20))
    comparison = compare(branches(old), branches(new, scale), GIVEN)
    fell = {each.name: each.fell for each in comparison.outputs}
    assert fell["own"] is True
    assert fell["cast_back"] is False
    assert comparison.first is not None
    assert comparison.first.value.min_snr == 80
    assert f"falls to {noise:.1f} dB, below 80.0 dB" in comparison.to_text()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("noise", [36.0, 45.0])
def test_a_fault_behind_a_cast_is_found_by_the_lower_threshold(way: str, noise: float) -> None:
    old, new, lowered = WAYS[way]
    comparison = compare(branches(old), branches(new, other=3 * (1 + 10 ** (-noise / 20))), GIVEN)
    assert {each.name: each.fell for each in comparison.outputs}["cast_back"] is (noise < lowered)


def test_the_exit_status_and_the_output(tmp_path: Path) -> None:
    old, new = tmp_path / "old.mil", tmp_path / "new.mil"
    old.write_text(branches("fp32"))
    new.write_text(branches("fp16", 2.008))
    done = CliRunner().invoke(command, ["compare", str(old), str(new)])
    assert done.exit_code == 1
    assert "3 outputs, 1 below 40.0 or 80.0 dB\n" in done.stdout
    (head,) = [line for line in done.stdout.splitlines() if "at least" in line and " name" in line][:1]
    assert head.split() == ["name", "operation", "type", "SNR", "at", "least", "max", "difference", "cosine"]
    assert CliRunner().invoke(command, ["compare", str(old), str(new), "--min-snr", "40"]).exit_code == 0


@pytest.mark.parametrize(
    ("body", "threshold"),
    [
        ("s = shape(x = c); y = reshape(x = x, shape = s);", 80),
        ('f = fill_like(ref_tensor = c, value = 2.0); g = cast(x = f, dtype = "fp32"); y = mul(x = x, y = g);', 40),
        ("i = reduce_argmax(x = c, axis = 1); y = gather(x = x, indices = i, axis = 1);", 40),
        ("g = greater(x = c, y = 0.5); y = select(cond = g, a = x, b = 1.0);", 40),
        ("y = relu(x = x);", 80),
    ],
)
def test_sizes_are_not_numbers(body: str, threshold: float) -> None:
    """What a value comes from counts where its numbers do, and not where its sizes do."""
    one, other = (
        f'program(1.3) {{ func main<ios18>(tensor<fp32, [4, 8]> x) {{ c = cast(x = x, dtype = "{dtype}"); {body} }}'
        " -> (y); }"
        for dtype in ("fp32", "fp16")
    )
    assert [each.min_snr for each in compare(one, other, GIVEN).outputs] == [threshold]


INSIDE = """program(1.3) {{ func main<ios18>(tensor<fp32, [4, 8]> x, bool p) {{
    c = cast(x = x, dtype = "{}");
    back = cast(x = c, dtype = "fp32");
    y = cond(pred = p) () {{ t = mul(x = back, y = 2.0); }} -> (t) () {{ f = mul(x = x, y = 2.0); }} -> (f);
    z = while_loop(loop_vars = (x))
        (tensor<fp32, [4, 8]> a) {{
            m = reduce_max(x = a, axes = [0, 1], keep_dims = false);
            l = less(x = m, y = 3.0);
        }} -> (l)
        (tensor<fp32, [4, 8]> d) {{ n = add(x = d, y = {}); }} -> (n);
}} -> (y, z); }}"""


@pytest.mark.parametrize(("step", "loop"), [("1.0", 80), ("back", 40)])
def test_blocks_keep_the_origins_of_values(step: str, loop: float) -> None:
    given = GIVEN | {"p": np.array(True)}
    comparison = compare(INSIDE.format("fp32", step), INSIDE.format("fp16", step), given)
    assert {each.name: each.min_snr for each in comparison.outputs} == {"y": 40, "z": loop}
    assert {each.name: each.min_snr for each in comparison.values if each.name in "nm"} == dict.fromkeys("mn", loop)


def test_states_hand_on_the_output() -> None:
    text = """program(1.3) {{ func main<ios18>(tensor<fp32, [2, 3]> x, state<tensor<{}, [2, 3]>> k) {{
        r = read_state(input = k); c = cast(x = x, dtype = "{}"); t = add(x = r, y = c);
        write_state(input = k, data = t); y = exp(x = x); }} -> (y); }}"""
    comparison = compare(text.format("fp16", "fp16"), text.format("fp16", "fp16"))
    assert [(each.kind, each.min_snr) for each in comparison.outputs] == [("output", 80), ("state", 50)]


def test_numbers_of_the_program_itself_follow_each_value(tmp_path: Path) -> None:
    path = tmp_path / "numbers.npz"
    assert_matches_numbers(branches("fp16"), path, GIVEN, update=True)
    assert_matches_numbers(branches("fp16", other=3.006), path, GIVEN, update=False)
    with pytest.raises(AssertionError, match=r"below 80\.0 dB"):
        assert_matches_numbers(branches("fp16", 2.004), path, GIVEN, update=False)


def test_arrays_are_each_of_their_own_type() -> None:
    given = {"own": np.ones((4, 8), np.float32), "cast_back": np.ones((4, 8), np.float32)}
    assert [each.min_snr for each in compare(branches("fp16"), None, GIVEN, against=given).outputs] == [80, 40]
    given = {"own": np.ones((4, 8), np.float16), "cast_back": np.ones((4, 8), np.float32)}
    assert [each.min_snr for each in compare(branches("fp32"), None, GIVEN, against=given).outputs] == [40, 80]
