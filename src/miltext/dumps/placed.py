"""Operations with the backend that Core ML chose for each, from a dump or from a compute plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from miltext.schema.paths import Path

ANE = "ane"
"""The backend for the Neural Engine."""

DEVICES = {
    ANE: "ANE",
    "bnns": "CPU",
    "classic_cpu": "CPU",
    "e5_minimal_cpu": "CPU",
    "jit_call": "CPU",
    "mps_graph": "GPU",
    "mpsgraph": "GPU",
    "gpu": "GPU",
    "cpu": "CPU",
}
"""The device of each backend.

The first five are those of the dumps of macOS 27.0.1 that are known; `mps_graph` is the GPU's by its name. A compute
plan names devices alone.
"""

SUFFIX = "_4D454D5F4F5054"
"""The end of the name of a value between conversions: MEM_OPT in hexadecimal."""

CONVERSIONS = frozenset({"tensor_buffer_to_tensor", "tensor_to_tensor_buffer"})
"""The operations by which the runtime converts inputs and outputs, which no model contains."""


def device_of(backend: str) -> str:
    """Return the device of a backend; the backend itself if its device is not known."""
    return DEVICES.get(backend, backend)


class PlacedOperation(NamedTuple):
    """An operation and its place among the backends.

    `path` leads to its message in a dump; it is empty in a compute plan. `backend` is None if Core ML chose none.
    `reasons` are Apple's words by backend. `times` are estimated milliseconds by backend, and `cost` is the share of
    the whole model's cost in a compute plan.
    """

    function: str
    type: str
    name: str
    backend: str | None
    supported: Sequence[str] = ()
    reasons: Mapping[str, str] = {}
    times: Mapping[str, float] = {}
    cost: float | None = None
    path: Path = ()

    @property
    def device(self) -> str | None:
        """The device of the backend."""
        return None if self.backend is None else device_of(self.backend)

    @property
    def time(self) -> float | None:
        """The estimated milliseconds on the chosen backend."""
        return None if self.backend is None else self.times.get(self.backend)

    @property
    def reason(self) -> str | None:
        """Apple's reason why the Neural Engine does not take it; None for no reason."""
        return self.reasons.get(ANE)

    @property
    def is_conversion(self) -> bool:
        """Whether the runtime added it to convert an input or an output."""
        return self.type in CONVERSIONS


class SwitchingCosts(NamedTuple):
    """The costs between operations in milliseconds: the `start` of a segment by backend, and each `switch` from one
    backend to another.
    """

    start: Mapping[str, float]
    switch: Mapping[tuple[str, str], float]
