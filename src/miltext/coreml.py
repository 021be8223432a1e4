"""Between miltext and coremltools: a model as a pymil program, a pymil program as a model, and a test of the passes.

coremltools is an extra of miltext, `coremltools`; nothing else of miltext imports it unasked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from miltext.diagnostics.arguments import checked, require_counts
from miltext.pymil.exporting import from_pymil
from miltext.pymil.loading import to_pymil

if TYPE_CHECKING:
    from miltext.pass_validation.reports import PassValidation

__all__ = ["from_pymil", "to_pymil", "validate_passes"]


@checked("inputs", "passes", "runs", "max_tests")
def validate_passes(
    program: Any,
    *,
    inputs: Mapping[str, Any] | None = None,
    passes: Sequence[str] | None = None,
    runs: int = 10,
    max_tests: int = 500,
) -> PassValidation:
    """Run the passes of coremltools' converter one by one, and report each that raises, loses something or changes
    numbers.

    After each pass that changes the program, the evaluator runs it on the same inputs as before. A faulty pass is
    undone, and the program is reduced to a small one on which this pass alone has the same fault. Passes that are
    inexact on purpose have bounds. coremltools' value inference, on constants in place of inputs, confirms other
    numbers.

    Args:
        program: MIL text, a path, a Program or a Model, or a coremltools `Program`.
        inputs: Arrays by name, for each function with these inputs. They are run before random inputs.
        passes: The names of the passes, such as "common::noop_elimination".  [coremltools' default ones]
        runs: The number of random inputs of each function, edge values among them.
        max_tests: The most candidates of each reduction.

    Returns:
        The reports, and the reason why coremltools does not load the program, if it does not.

    Raises:
        ParseError: The text is not MIL text.
        ModelError: MIL480 without coremltools, MIL481 for weights in several folders, and a model that cannot be read.
        WeightsError: MIL30x for weights.
        MiltextError: All errors that `check` finds, and MIL831 to MIL838 for `inputs`.
        ValueError: An unknown pass, or `inputs` that no function has.

    Example:
        print(miltext.coreml.validate_passes("Model.mlpackage").to_text())
    """
    from miltext.pass_validation.validating import validation

    require_counts("validate_passes", runs=runs, max_tests=max_tests)
    return validation(program, inputs, passes, runs, max_tests)
