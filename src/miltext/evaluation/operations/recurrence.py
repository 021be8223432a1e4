"""Rules for recurrent layers.

The time steps are a loop; the contribution of the inputs of all steps is one product before it. A sequence in `reverse`
is returned in the order of processing, the last input first: as in coremltools' tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from miltext.evaluation.rules import Array, UnfitValues, rule

Function: TypeAlias = Callable[[Array], Array]
Layer: TypeAlias = "tuple[Array, Array, Array | None, Array | None]"


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _hard_sigmoid(x: Array) -> Array:
    return np.clip(0.2 * x + 0.5, 0, 1)


# Source of the constants: coremltools' test of lstm calls them the standard ones: 1 and 1 for scaled_tanh. The arrays
# of a step are small, so these are shorter than the rules of the activations, which go piece by piece.
ACTIVATIONS: dict[str, Function] = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": _sigmoid,
    "hard_sigmoid": _hard_sigmoid,
    "sigmoid_hard": _hard_sigmoid,
    "tanh": np.tanh,
    "scaled_tanh": np.tanh,
}


@rule("rnn")
def rnn(
    x: Array,
    initial_h: Array,
    weight_ih: Array,
    weight_hh: Array,
    bias: Array | None,
    direction: str,
    output_sequence: bool,
    activation: str,
) -> tuple[Array, ...]:
    """Return h(t) = f(W_ih x(t) + W_hh h(t-1) + b), of each step or of the last, and the last h."""
    act = ACTIVATIONS[activation.lower()]

    def step(given: Array, h: Array) -> tuple[Array]:
        return (act(given + h @ weight_hh.T),)

    given = _contributed(_ordered(x, direction), weight_ih, bias)
    return _through_time(given, (_of_batch(initial_h, x),), step, output_sequence)


@rule("gru")
def gru(
    x: Array,
    initial_h: Array,
    weight_ih: Array,
    weight_hh: Array,
    bias: Array | None,
    direction: str,
    output_sequence: bool,
    recurrent_activation: str,
    activation: str,
    reset_after: bool | None,
    input_bias: Array | None,
) -> tuple[Array, ...]:
    """Return h(t) = (1 - z) o + z h(t-1), of each step or of the last, and the last h.

    r = g(W_r x + R_r h + b_r), z = g(W_z x + R_z h + b_z), and o = f(W_o x + R_o (r h) + b_o), where h is h(t-1); the
    weights of r, o and z stand one below the other. With `reset_after`, o = f(W_o x + r (R_o h + b_o)), as in torch.
    `input_bias` is added to each W x.
    """
    # Source: the tests of gru in coremltools (test_recurrent.py of iOS14 and iOS18); the docstring of its definition
    # has r outside of the product, which no test agrees with.
    gate, act = ACTIVATIONS[recurrent_activation.lower()], ACTIVATIONS[activation.lower()]
    size = initial_h.shape[-1]
    recurrent_r, recurrent_o, recurrent_z = _thirds(weight_hh)
    bias_r, bias_o, bias_z = (0, 0, 0) if bias is None else _thirds(bias)

    def step(given: Array, h: Array) -> tuple[Array]:
        r = gate(given[:, :size] + h @ recurrent_r.T + bias_r)
        z = gate(given[:, 2 * size :] + h @ recurrent_z.T + bias_z)
        inner = r * (h @ recurrent_o.T + bias_o) if reset_after else (r * h) @ recurrent_o.T + bias_o
        return ((1 - z) * act(given[:, size : 2 * size] + inner) + z * h,)

    given = _contributed(_ordered(x, direction), weight_ih, input_bias)
    return _through_time(given, (_of_batch(initial_h, x),), step, output_sequence)


@rule("lstm")
def lstm(
    x: Array,
    initial_h: Array,
    initial_c: Array,
    weight_ih: Array,
    weight_hh: Array,
    bias: Array | None,
    peephole: Array | None,
    weight_ih_back: Array,
    weight_hh_back: Array,
    bias_back: Array | None,
    peephole_back: Array | None,
    direction: str,
    output_sequence: bool,
    recurrent_activation: str,
    cell_activation: str,
    activation: str,
    clip: Array | None,
) -> tuple[Array, ...]:
    """Return h(t) = o f(c(t)), of each step or of the last, and the last h and c.

    c(t) = u c(t-1) + i z, kept within `clip` of 0, where i, u and o are g(W x + R h(t-1) + b + p c), z is the same by
    the activation of the cell and without p, and c is c(t-1) for i and u, c(t) for o. The weights of i, u, o and z
    stand one below the other, and so do the peepholes p of i, u and o. A bidirectional layer is two, the second back in
    time; h and c of both are side by side.
    """
    words = (recurrent_activation, cell_activation, activation)
    functions = [ACTIVATIONS[word.lower()] for word in words]
    layers: list[Layer] = [(weight_ih, weight_hh, bias, peephole)]
    if direction == "bidirectional":
        layers.append((weight_ih_back, weight_hh_back, bias_back, peephole_back))
    states = zip(*(np.split(_of_batch(each, x), len(layers), -1) for each in (initial_h, initial_c)), strict=True)
    results = []
    for back, (layer, carried) in enumerate(zip(layers, states, strict=True)):
        given = _contributed(x[::-1] if back else _ordered(x, direction), layer[0], layer[2])
        sequence, *last = _through_time(given, carried, _lstm_step(layer, functions, clip), output_sequence)
        results.append((sequence[::-1] if back else sequence, *last))
    return tuple(np.concatenate(parts, -1) for parts in zip(*results, strict=True))


def _lstm_step(layer: Layer, functions: list[Function], clip: Array | None) -> Callable[..., tuple[Array, Array]]:
    """Return the step from one time's h and c to the next."""
    gate, cell, act = functions
    recurrent, peephole, size = layer[1].T, layer[3], layer[1].shape[1]

    def plain(given: Array, h: Array, c: Array) -> tuple[Array, Array]:
        sums = given + h @ recurrent
        gates = gate(sums[:, : 3 * size])
        c = gates[:, size : 2 * size] * c + gates[:, :size] * cell(sums[:, 3 * size :])
        c = c if clip is None else np.clip(c, -clip, clip)
        return gates[:, 2 * size :] * act(c), c

    if peephole is None:
        return plain
    peeps = _thirds(peephole)

    def peeping(given: Array, h: Array, c: Array) -> tuple[Array, Array]:
        i, forget, o, z = np.split(given + h @ recurrent, 4, -1)
        c = gate(forget + peeps[1] * c) * c + gate(i + peeps[0] * c) * cell(z)
        c = c if clip is None else np.clip(c, -clip, clip)
        return gate(o + peeps[2] * c) * act(c), c

    return peeping


def _through_time(
    given: Array, carried: tuple[Array, ...], step: Callable[..., tuple[Array, ...]], every: bool
) -> tuple[Array, ...]:
    """Return h of `every` step or of the last, and the final carried values, h first."""
    sequence = np.empty((len(given) if every else 1, *carried[0].shape), given.dtype)
    for place, each in enumerate(given):
        carried = step(each, *carried)
        if every:
            sequence[place] = carried[0]
    if not every:
        sequence[0] = carried[0]
    return (sequence, *carried)


def _contributed(x: Array, weight: Array, bias: Array | None) -> Array:
    """Return the contribution of the inputs of all steps, W x + b: one product of matrices."""
    steps, batch, size = x.shape
    product: Array = (x.reshape(steps * batch, size) @ weight.T).reshape(steps, batch, len(weight))
    return product if bias is None else product + bias


def _of_batch(state: Array, x: Array) -> Array:
    """Return as many rows of an initial state as the batch has: the state may have more rows, but not fewer."""
    # coremltools converts torch's packed sequences, batch first, with as many rows as there are steps; its tests expect
    # of these the result of torch with the rows of the batch.
    batch = x.shape[1]
    if len(state) < batch:
        raise UnfitValues(f"`x` is a batch of {batch}, and an initial state has {len(state)}")
    return state[:batch]


def _ordered(x: Array, direction: str) -> Array:
    return x[::-1] if direction == "reverse" else x


def _thirds(weights: Array) -> list[Array]:
    return np.split(weights, 3)
