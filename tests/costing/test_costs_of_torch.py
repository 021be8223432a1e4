"""The multiply-accumulates of converted networks are half of the FLOPs that torch counts of the originals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.traced import converted

import miltext

ORDINARY = (
    "residual",
    "for phones",
    "encoder",
    "u-net",
    "convolutions with norms of transformers",
    "mixer",
    "gated waves",
    "spectrum",
    "sharper images",
    "images of noise",
    "autoencoder",
    "detector",
    "decoder",
    "decoder with the least mask",
    "two towers",
    "graph",
    "experts",
    "comparisons",
    "unrolled",
    "windows",
    "style",
    "tables",
    "solid bodies",
    "sentences",
    "small scales",
)
"""The networks of `support/ordinary_networks.py` whose converted program has the same products."""

TURNS = 9 - 1
"""The turns of the GRU of the network `recurrent` that the program has as one `while_loop`, besides the first."""

OTHERS = {"recurrent": TURNS * (32 + 20) * 3 * 20, "questions to an image": 6 * 32 * 32}
"""The networks with products that the program does not state: further turns of a loop; and a layer with the learned
questions, whose result the converter stores as a constant. The numbers are by hand.
"""


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="needs torch: pip install -e '.[models]'")


def flops(torch: Any, network: Any, *inputs: Any) -> int:
    """Return the FLOPs of a network by torch's counter, with layers that torch does not count taken apart."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter, torch.backends.mkldnn.flags(enabled=False), sdpa_kernel(SDPBackend.MATH):
        network(*inputs)
    return int(counter.get_total_flops())


@pytest.mark.parametrize("name", [*ORDINARY, *OTHERS])
def test_macs_are_half_of_the_flops_of_torch(name: str, torch: Any, tmp_path: Path) -> None:
    from support import ordinary_networks

    assert {*ordinary_networks.ORDINARY} == {*ORDINARY, *OTHERS}
    network, x = ordinary_networks.ORDINARY[name].whole()
    expected = flops(torch, network, x)
    model = converted(network, {"x": x}, "FLOAT16", tmp_path)
    assert 2 * (miltext.cost(model).work.macs + OTHERS.get(name, 0)) == expected > 0


def test_layers_with_strides_groups_and_dilations(torch: Any, tmp_path: Path) -> None:
    nn = torch.nn
    network = nn.Sequential(
        nn.Conv2d(4, 12, 5, stride=(2, 1), padding=2, groups=2),
        nn.ReLU(),
        nn.ConvTranspose2d(12, 9, 4, stride=2, padding=1, groups=3),
        nn.Conv2d(9, 9, 3, dilation=2, groups=9, bias=False),
        nn.Conv2d(9, 3, 1),
    ).eval()
    x = torch.randn(2, 4, 17, 20)
    model = converted(network, {"x": x}, "FLOAT16", tmp_path)
    assert 2 * miltext.cost(model).work.macs == flops(torch, network, x)


def test_attention_as_one_operation(torch: Any, tmp_path: Path) -> None:
    """From iOS 18 on, attention with a mask stays one operation."""
    functional = torch.nn.functional

    class Attending(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any, mask: Any) -> Any:
            return functional.scaled_dot_product_attention(x[:, :, :5], x, x[..., :6], mask)

    inputs = torch.randn(1, 3, 11, 8), torch.zeros(1, 1, 5, 11)
    network = Attending().eval()
    model = converted(network, dict(zip(("x", "mask"), inputs, strict=True)), "FLOAT16", tmp_path, target="iOS18")
    cost = miltext.cost(model)
    (attention,) = [each for each in cost.types if each.work.macs]
    assert attention.type == "scaled_dot_product_attention"
    assert 2 * cost.work.macs == flops(torch, network, *inputs)
