"""Recurrent layers, held against torch, and against their formulas where torch has none of the kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.one_operation import applied
from support.written_arrays import written

from miltext.evaluation.failures import OperationFailure

SIZES = [(1, 1, 1, 1), (4, 1, 3, 2), (5, 3, 2, 4), (2, 2, 7, 3)]
"""Steps, batch, and the sizes of input and state."""

DTYPES: list[tuple[npt.DTypeLike, str, float]] = [
    (np.float32, "float32", 2e-6),
    (np.float16, "float32", 2e-3),
    (np.float32, "native", 2e-6),
    (np.float16, "native", 1e-2),
]
"""A data type, how to compute, and how far a result may be off."""

GATES = {"rnn": 1, "gru": 3, "lstm": 4}

STATES: tuple[str, ...] = ("initial_h", "initial_c")


def numbers(seed: int, *shape: int) -> npt.NDArray[Any]:
    """Return numbers between -1 and 1 that fp16 holds."""
    return (np.random.default_rng(seed).integers(-256, 256, shape) / 256).astype(np.float32)


def layer(
    op_type: str,
    arrays: dict[str, npt.NDArray[Any]],
    settings: str = "",
    *,
    dtype: npt.DTypeLike = np.float32,
    compute: str = "float32",
    types: dict[str, str] | None = None,
) -> list[npt.NDArray[Any]]:
    """Return the outputs of a layer; of its arrays, x and the initial states are inputs, others constants."""
    arrays = {name: array.astype(dtype) for name, array in arrays.items()}
    inputs = {name: arrays[name] for name in ("x", *STATES) if name in arrays}
    said = [f"{name} = {name if name in inputs else written(array)}" for name, array in arrays.items()]
    outputs = "all, h, c" if op_type == "lstm" else "all, h"
    return applied(f"{outputs} = {op_type}({', '.join(said)}{settings})", inputs, types, compute=compute)


def arrays_of(op_type: str, size: tuple[int, ...], *, biased: bool = True, both: bool = False) -> dict[str, Any]:
    """Return the arrays of a layer, of which `both` has two directions."""
    steps, batch, given, kept = size
    rows = GATES[op_type] * kept
    arrays = {"x": numbers(1, steps, batch, given), "initial_h": numbers(2, batch, kept * (1 + both))}
    if op_type == "lstm":
        arrays["initial_c"] = numbers(3, batch, kept * (1 + both))
    for turn, ending in enumerate(["", "_back"][: 1 + both]):
        arrays[f"weight_ih{ending}"] = numbers(4 + turn, rows, given)
        arrays[f"weight_hh{ending}"] = numbers(6 + turn, rows, kept)
        if biased:
            arrays[f"bias{ending}"] = numbers(8 + turn, rows)
    return arrays


def in_torch(op_type: str, arrays: dict[str, Any], **settings: Any) -> list[npt.NDArray[Any]]:
    """Return what torch's layer of the same weights makes: h of all steps, and the last h (and c), as of an op."""
    torch = pytest.importorskip("torch", reason="torch is what this is held against")
    orders = {"rnn": [0], "gru": [0, 2, 1], "lstm": [0, 1, 3, 2]}  # torch has r, z, o and i, u, z, o
    both = "weight_ih_back" in arrays
    kept = arrays["weight_hh"].shape[1]
    made = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}[op_type](
        arrays["x"].shape[2], kept, bidirectional=both, **settings
    )

    def told(name: str, otherwise: str) -> Any:
        array = arrays.get(name, np.zeros_like(arrays[otherwise][:, 0]))
        parts = np.split(array, GATES[op_type])
        return torch.tensor(np.concatenate([parts[place] for place in orders[op_type]]))

    state = {}
    for ending, theirs in [("", ""), ("_back", "_reverse")][: 1 + both]:
        weights = f"weight_ih{ending}", f"weight_hh{ending}"
        for kind, name in zip(("weight_ih", "weight_hh"), weights, strict=True):
            state[f"{kind}_l0{theirs}"] = told(name, name)
        state[f"bias_ih_l0{theirs}"] = told("input_bias", weights[0])
        state[f"bias_hh_l0{theirs}"] = told(f"bias{ending}", weights[1])
    made.load_state_dict(state)
    states = [torch.tensor(np.stack(np.split(arrays[name], 1 + both, 1))) for name in STATES if name in arrays]
    with torch.no_grad():
        sequence, last = made(torch.tensor(arrays["x"]), states[0] if len(states) == 1 else tuple(states))
    ends = last if isinstance(last, tuple) else (last,)
    return [sequence.numpy(), *(np.concatenate(list(end.numpy()), 1) for end in ends)]


def assert_near(actual: list[Any], expected: list[Any], off: float) -> None:
    """Assert that arrays are as expected, but for a share of the largest number."""
    assert [each.shape for each in actual] == [each.shape for each in expected]
    for mine, theirs in zip(actual, expected, strict=True):
        assert np.abs(mine.astype(np.float64) - theirs).max() <= off * max(1, np.abs(theirs).max())


@pytest.mark.parametrize(("dtype", "compute", "off"), DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("op_type", ["rnn", "lstm"])
def test_a_layer_is_torchs(op_type: str, size: tuple[int, ...], dtype: npt.DTypeLike, compute: str, off: float) -> None:
    arrays = arrays_of(op_type, size)
    actual = layer(op_type, arrays, ", output_sequence = true", dtype=dtype, compute=compute)
    assert_near(actual, in_torch(op_type, arrays), off)
    assert all(each.dtype == dtype for each in actual)


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("op_type", ["rnn", "lstm"])
def test_without_output_sequence_only_the_last_h_is_returned(op_type: str, biased: bool) -> None:
    arrays = arrays_of(op_type, SIZES[2], biased=biased)
    sequence, *ends = in_torch(op_type, arrays)
    assert_near(layer(op_type, arrays), [sequence[-1:], *ends], 2e-6)


@pytest.mark.parametrize("op_type", ["rnn", "gru", "lstm"])
def test_the_reverse_direction_begins_with_the_last_input(op_type: str) -> None:
    arrays = arrays_of(op_type, SIZES[2])
    turned = {**arrays, "x": arrays["x"][::-1]}
    for settings in ("", ", output_sequence = true"):
        forward = layer(op_type, turned, settings)
        assert_near(layer(op_type, arrays, f'{settings}, direction = "reverse"'), forward, 0)


@pytest.mark.parametrize(("dtype", "compute", "off"), DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_bidirectional_lstm_is_torchs(size: tuple[int, ...], dtype: npt.DTypeLike, compute: str, off: float) -> None:
    arrays = arrays_of("lstm", size, both=True)
    settings = ', output_sequence = true, direction = "bidirectional"'
    sequence, h, c = in_torch("lstm", arrays)
    assert_near(layer("lstm", arrays, settings, dtype=dtype, compute=compute), [sequence, h, c], off)
    # The last h of the second direction is that of the first time.
    assert_near(layer("lstm", arrays, ', direction = "bidirectional"'), [h[None], h, c], 2e-6)


def test_bidirectional_lstm_without_biases_has_peepholes_of_own() -> None:
    arrays = arrays_of("lstm", SIZES[1], biased=False, both=True)
    peepholes = {"peephole": numbers(11, 6), "peephole_back": numbers(12, 6)}
    _, h, c = layer("lstm", {**arrays, **peepholes}, ', direction = "bidirectional"')
    for ending, half, words in (("", slice(0, 2), "forward"), ("_back", slice(2, 4), "reverse")):
        one = {name: arrays[name + ending] for name in ("weight_ih", "weight_hh")}
        states = {name: arrays[name][:, half] for name in STATES}
        parts = {"x": arrays["x"], **states, **one, "peephole": peepholes[f"peephole{ending}"]}
        assert_near(layer("lstm", parts, f', direction = "{words}"')[1:], [h[:, half], c[:, half]], 0)


@pytest.mark.parametrize(("dtype", "compute", "off"), DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_gru_that_resets_after_is_torchs(
    size: tuple[int, ...], dtype: npt.DTypeLike, compute: str, off: float
) -> None:
    arrays = {**arrays_of("gru", size), "input_bias": numbers(10, 3 * size[3])}
    settings = ", output_sequence = true, reset_after = true"
    assert_near(layer("gru", arrays, settings, dtype=dtype, compute=compute), in_torch("gru", arrays), off)


ACTIVATIONS: dict[str, Any] = {
    "linear": lambda x: x,
    "relu": lambda x: x * (x > 0),
    "sigmoid": lambda x: (np.tanh(x / 2) + 1) / 2,
    "hard_sigmoid": lambda x: np.minimum(np.maximum(x / 5 + 1 / 2, 0), 1),
    "sigmoid_hard": lambda x: np.minimum(np.maximum(x / 5 + 1 / 2, 0), 1),
    "tanh": lambda x: np.sinh(x) / np.cosh(x),
    "scaled_tanh": lambda x: np.sinh(x) / np.cosh(x),
}


@pytest.mark.parametrize("word", [*ACTIVATIONS, "ReLU", "TANH"])
def test_an_rnn_has_each_activation(word: str) -> None:
    arrays = arrays_of("rnn", (3, 2, 3, 2))
    act = ACTIVATIONS[word.lower()]
    h = arrays["initial_h"].astype(np.float64)
    for x in arrays["x"]:
        h = act(x @ arrays["weight_ih"].T + h @ arrays["weight_hh"].T + arrays["bias"])
    assert_near(layer("rnn", arrays, f', activation = "{word}"')[1:], [h], 2e-6)


@pytest.mark.parametrize("input_biased", [False, True])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("recurrent", "activation"), [("sigmoid", "tanh"), ("tanh", "sigmoid"), ("relu", "linear")])
def test_a_gru_is_its_formula(recurrent: str, activation: str, after: bool, biased: bool, input_biased: bool) -> None:
    arrays = arrays_of("gru", (4, 2, 3, 2), biased=biased)
    if input_biased:
        arrays["input_bias"] = numbers(10, 6)
    gate, act = ACTIVATIONS[recurrent], ACTIVATIONS[activation]
    in_r, in_o, in_z = np.split(arrays["weight_ih"].astype(np.float64), 3)
    re_r, re_o, re_z = np.split(arrays["weight_hh"].astype(np.float64), 3)
    b_r, b_o, b_z = np.split(arrays.get("bias", np.zeros(6)).astype(np.float64), 3)
    i_r, i_o, i_z = np.split(arrays.get("input_bias", np.zeros(6)).astype(np.float64), 3)
    states = []
    for row in range(2):
        h = arrays["initial_h"][row].astype(np.float64)
        for x in arrays["x"][:, row]:
            r = gate(in_r @ x + i_r + re_r @ h + b_r)
            z = gate(in_z @ x + i_z + re_z @ h + b_z)
            o = act(in_o @ x + i_o + (r * (re_o @ h + b_o) if after else re_o @ (r * h) + b_o))
            h = (1 - z) * o + z * h
        states.append(h)
    settings = f', recurrent_activation = "{recurrent}", activation = "{activation}"'
    settings += ", reset_after = true" if after else ""
    assert_near(layer("gru", arrays, settings)[1:], [np.stack(states)], 2e-6)


@pytest.mark.parametrize("peeping", [False, True])
@pytest.mark.parametrize("clip", [None, 0.0, 0.01, 0.2, 50.0])
@pytest.mark.parametrize(
    "words", [("sigmoid", "tanh", "relu"), ("hard_sigmoid", "relu", "tanh"), ("tanh", "sigmoid", "linear")]
)
def test_an_lstm_is_its_formula(words: tuple[str, str, str], clip: float | None, peeping: bool) -> None:
    arrays = arrays_of("lstm", (4, 2, 3, 2))
    if peeping:
        arrays["peephole"] = numbers(11, 6)
    gate, cell, act = (ACTIVATIONS[word] for word in words)
    x_i, x_f, x_o, x_z = np.split(arrays["weight_ih"].astype(np.float64), 4)
    h_i, h_f, h_o, h_z = np.split(arrays["weight_hh"].astype(np.float64), 4)
    b_i, b_f, b_o, b_z = np.split(arrays["bias"].astype(np.float64), 4)
    p_i, p_f, p_o = np.split(arrays.get("peephole", np.zeros(6)).astype(np.float64), 3)
    hidden, cells = [], []
    for row in range(2):
        h, c = (arrays[name][row].astype(np.float64) for name in STATES)
        for x in arrays["x"][:, row]:
            i = gate(x_i @ x + h_i @ h + b_i + p_i * c)
            f = gate(x_f @ x + h_f @ h + b_f + p_f * c)
            c = f * c + i * cell(x_z @ x + h_z @ h + b_z)
            c = c if clip is None else np.maximum(np.minimum(c, clip), -clip)
            h = gate(x_o @ x + h_o @ h + b_o + p_o * c) * act(c)
        hidden.append(h)
        cells.append(c)
    told = zip(("recurrent_activation", "cell_activation", "activation"), words, strict=True)
    settings = "".join(f', {name} = "{word}"' for name, word in told)
    settings += "" if clip is None else f", clip = {clip}"
    assert_near(layer("lstm", arrays, settings)[1:], [np.stack(hidden), np.stack(cells)], 2e-6)


@pytest.mark.parametrize("op_type", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize(("steps", "batch", "given"), [(0, 2, 3), (3, 0, 2), (3, 2, 0)])
def test_nothing_to_go_through_changes_nothing(op_type: str, steps: int, batch: int, given: int) -> None:
    arrays = arrays_of(op_type, (steps, batch, given, 2))
    outputs = layer(op_type, arrays, ", output_sequence = true")
    assert outputs[0].shape == (steps, batch, 2)
    if not steps:
        assert np.array_equal(outputs[1], arrays["initial_h"])
        assert np.array_equal(layer(op_type, arrays)[0], arrays["initial_h"][None])


def test_a_gate_far_from_zero_is_0_or_1() -> None:
    arrays = {name: array * 1000 if "weight" in name else array for name, array in arrays_of("lstm", SIZES[1]).items()}
    assert all(np.isfinite(each).all() for each in layer("lstm", arrays))


def test_a_nan_stays_in_its_row() -> None:
    arrays = arrays_of("lstm", SIZES[2])
    arrays["x"][0, 1, 0] = np.nan
    _, h, _ = layer("lstm", arrays)
    assert np.isnan(h).all(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize("op_type", ["rnn", "gru", "lstm"])
def test_a_state_may_have_more_rows_than_the_batch_but_not_fewer(op_type: str) -> None:
    arrays = arrays_of(op_type, (3, 2, 3, 2))
    names = [name for name in STATES if name in arrays]
    types = dict.fromkeys(names, "tensor<fp32, [?, 2]>")
    more = {name: np.concatenate([arrays[name], np.ones((3, 2), np.float32)]) for name in names}
    assert_near(layer(op_type, {**arrays, **more}, types=types), layer(op_type, arrays), 0)
    for name in names:
        with pytest.raises(OperationFailure, match="`x` is a batch of 2, and an initial state has 1"):
            layer(op_type, {**arrays, name: arrays[name][:1]}, types=types)
