"""Functions of models that a text imports, as the check of a call sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from miltext.schema.features import function_features

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.models.model import Model
    from miltext.parsing.lowering.imports import ImportReference
    from miltext.schema.proto import FeatureDescription, Program
    from miltext.schema.types import Type

Types: TypeAlias = "dict[str, Type]"


class ImportedFunction(NamedTuple):
    """A function of an imported `model`: its name in the `program`, its opset, and its types in their order.

    The `inputs` include states.
    """

    model: Model
    program: Program
    name: str
    opset: str
    inputs: Types
    outputs: Types

    def entry(self, side: str, name: str) -> FeatureDescription | None:
        """Return the entry of the model's description for an input or output; None without one."""
        description = self.model.description
        described = None if description is None else function_features(description, self.name)
        entries = () if described is None else getattr(described, side)
        return next((entry for entry in entries if entry.name == name), None)

    def colours(self, side: str, name: str) -> int:
        """Return the colour space of an image; 0 for any other input or output."""
        entry = self.entry(side, name)
        return entry.type.imageType.colorSpace if entry is not None else 0


class ImportedFunctions(Protocol):
    """The functions of the models that a text imports."""

    def function(self, reference: ImportReference) -> ImportedFunction:
        """Return the function of a reference. Raise ModelError: MIL409, MIL430."""

    def outputs(self, reference: ImportReference, given: Mapping[str, Type]) -> Types:
        """Return the types of the outputs if some inputs are of given types. Raise ModelError (MIL409)."""

    def obstacle(self, reference: ImportReference, opset: str) -> str:
        """Return why the operations of the function cannot be in a block for an opset; empty if they can."""

    def path(self, file: str) -> Path:
        """Return the path of an existing file or folder. Raise ModelError (MIL409)."""
