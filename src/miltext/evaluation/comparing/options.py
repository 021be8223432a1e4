"""The options of a comparison: keywords in Python, and options of the verb."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miltext.syntax.keywords import option

if TYPE_CHECKING:
    import os

    from miltext.evaluation.carried import Named


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of `miltext.compare`, which describes them."""

    against: Named | None = None
    function: str = option("main", "The function of A to run.  [main]", metavar="NAME")
    min_snr: float | None = option(
        None,
        "The least accepted signal-to-noise ratio of a value.  [80 with only fp32 in both, 50 with fp16 in both, "
        "40 with fp16 or compressed weights in one]",
        type=float,
        metavar="DB",
    )
    seed: int | None = None
    state: Named | None = None
    runs: int = option(
        1, "Run N times, with the states of the previous run and new random inputs.  [1]", least=1, metavar="N"
    )
    compute: str = option(
        "float32",
        "The precision in which fp16 is computed before rounding; or as measured on the Neural Engine (ane) or on Core "
        "ML's CPU (cpu): B alone, against A in float32.  [float32]",
        among=("float32", "native", "ane", "cpu"),
    )
    weights: str | os.PathLike[str] | None = option(
        None, "The folder of the weight files that A or B names, if A or B is a text.  [its own]", metavar="DIR"
    )
    allow_nan: bool = option(False, "Accept inputs with NaN and infinities.")
    progress: Callable[[int], object] | None = None
