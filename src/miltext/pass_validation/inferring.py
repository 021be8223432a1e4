"""The values of a function by coremltools' own value inference, operation by operation.

Each operation is loaded alone, with constants in place of its operands. coremltools computes its outputs, or miltext's
evaluator where coremltools has no rule, or its rule raises.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from miltext.containers.spec import SpecModel
from miltext.diagnostics import MiltextError
from miltext.ir.graph import Graph
from miltext.ir.parts import Value
from miltext.pymil.loading import to_pymil
from miltext.pymil.passes import quiet
from miltext.rewriting.computing import FUNCTION, computed, constant_program
from miltext.rewriting.literals import literal_message
from miltext.rewriting.operands import ConstantContents
from miltext.schema.opsets import specification_of
from miltext.schema.proto import Model as Spec
from miltext.schema.types import StateType, TensorType

if TYPE_CHECKING:
    from miltext.evaluation.carried import Named
    from miltext.evaluation.rules import Array
    from miltext.ir.parts import Op
    from miltext.models.model import Model
    from miltext.pass_validation.snapshots import Snapshot
    from miltext.schema.proto import Value as Literal


VERSION = 1
"""The only version of a Program that coremltools loads."""


class InferredFunction:
    """A function of a program, with inferred values.

    `outputs` are the values of its outputs in order, None for unknown ones, and `states` the last written values of
    states by name. `computed` are the types of the operations that the evaluator computed.
    """

    def __init__(self, program: Snapshot, function: str, inputs: Named) -> None:
        made = Graph(program.program).functions[function]
        assert made.block is not None, "it was run"
        self.states: dict[str, Array | None] = {}
        self.computed: Counter[str] = Counter()
        self._opset = made.own_opset or next(iter(made.blocks))
        self._contents = ConstantContents(program.folder)
        tensors = [value for value in made.inputs if not isinstance(value.type, StateType)]
        given = zip(tensors, inputs.values(), strict=True)  # by place: a pass may rename them
        self._known: dict[Value, Array] = {value: np.asarray(array) for value, array in given}
        for op in made.block:
            self._infer(op)
        self.outputs = [self._known.get(value) for value in made.block.outputs]

    def _infer(self, op: Op) -> None:
        """Add the values of an operation whose operands are known."""
        if op.type == "const":
            array = self._contents.array(op.attributes.get("val"))
            if array is not None:
                self._known[op.outputs[0]] = array
        elif op.type == "write_state":
            [state], [data] = op.inputs["input"], op.inputs["data"]
            if isinstance(state, Value):
                self.states[state.name] = self._known.get(data) if isinstance(data, Value) else None
        elif not op.blocks and all(isinstance(each.type, TensorType) for each in op.outputs):
            self._compute(op)

    def _compute(self, op: Op) -> None:
        """Add the values of an operation, unless an operand is unknown."""
        if all(each in self._known for each in op.operands):
            self._known |= self._by_coremltools(op) or self._by_evaluator(op)

    def _by_coremltools(self, op: Op) -> dict[Value, Array]:
        """Return the values of an operation by the value inference of coremltools; none without them all."""
        try:
            with quiet():
                outputs = to_pymil(self._alone(op)).functions[FUNCTION].outputs
            values = [each.val for each in outputs]
        except Exception:  # noqa: BLE001  # coremltools raises anything
            return {}
        if len(values) != len(op.outputs) or any(each is None for each in values):
            return {}
        return {value: np.asarray(array) for value, array in zip(op.outputs, values, strict=True)}

    def _alone(self, op: Op) -> Model:
        """Return a model with an operation on constants; its description is empty, so that any output is allowed."""
        program, _ = constant_program([op], self._opset, self._literal)
        program.version = VERSION
        spec = Spec(specificationVersion=specification_of(self._opset), mlProgram=program)
        return SpecModel("mlmodel", "<operation>", None, None, spec)

    def _by_evaluator(self, op: Op) -> dict[Value, Array]:
        """Return the values of an operation by the evaluator; none without a result."""
        try:
            made = computed([op], self._opset, self._literal)
        except MiltextError:
            return {}
        self.computed[op.type] += 1
        return made

    def _literal(self, value: Value) -> Literal:
        return literal_message(self._known[value])
