"""Print how far inference reaches: over op names, and over the ops of coremltools' programs and of models given.

Run from anywhere: `python scripts/inference_reach.py [MODEL.mlmodel ...]`. Needs coremltools 9.0.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

from miltext.checking.inference import RULES, Inference, infer_types
from miltext.schema import proto
from miltext.schema.operations import all_names

ROOT = Path(__file__).resolve().parent.parent


def programs(models: list[str]) -> Iterator[proto.Program]:
    """Yield the Programs that the tests make with coremltools, and those of the models."""
    if str(ROOT / "tests") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests"))
    from support.coremltools_programs import PROGRAMS

    for sample in PROGRAMS:
        yield proto.Program.FromString(sample.program())
    for path in models:
        yield proto.Model.FromString(Path(path).read_bytes()).mlProgram


def share(part: int, whole: int) -> str:
    return f"{part:>6} of {whole:<6}  {100 * part / whole:6.2f} %"


def main() -> None:
    logging.disable(logging.WARNING)
    found = [inference for program in programs(sys.argv[1:]) for inference in infer_types(program)]
    spoken_of = [inference for inference in found if inference.inferred is not None]
    print("op names with a rule     ", share(len(set(all_names()) & set(RULES)), len(all_names())))
    print("ops that a rule covers", share(len(spoken_of), len(found)))
    print("types equal to declared  ", share(sum(map(is_exact, spoken_of)), len(found)))
    print("types that disagree      ", share(sum(not inference.agrees for inference in found), len(found)))


def is_exact(inference: Inference) -> bool:
    return list(inference.inferred or ()) == inference.declared


if __name__ == "__main__":
    main()
