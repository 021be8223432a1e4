"""The surroundings of a program: the parts of a Model that a description contains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from miltext.descriptions.parts import beside_kinds

if TYPE_CHECKING:
    from miltext.schema.proto import Model as Spec

Labels: TypeAlias = "list[str] | list[int]"
"""The labels of a classifier."""

HEAD = ("specificationVersion", "description", "isUpdatable")
"""The fields of a Model besides its Type."""


@dataclass
class Surroundings:
    """The contents of a model's description.

    `head` is a Model message without its Type. `kind` is the name of that Type, `name` the model's name in the pipeline
    around it, `stages` the models of a pipeline. `labels` are the labels of the classifiers, by the names of functions;
    the empty name is for the function that the description itself describes. `at` is the path of the table in TOML.
    """

    head: Spec
    kind: str | None = None
    name: str | None = None
    labels: dict[str, Labels] = field(default_factory=dict)
    stages: list[Surroundings] = field(default_factory=list)
    at: tuple[str | int, ...] = ()

    def at_function(self, name: str) -> tuple[str | int, ...]:
        """Return the path of a function's table; for the empty name, the path of the model's own table."""
        names = [function.name for function in self.head.description.functions]
        return (*self.at, "function", names.index(name)) if name else self.at


def head_of(spec: Spec) -> Spec:
    """Return a Model message without its Type."""
    head = type(spec)()
    for name, value in ((each, getattr(spec, each)) for each in HEAD):
        if name != "description":
            setattr(head, name, value)
        elif spec.HasField("description"):
            head.description.CopyFrom(value)
    head.MergeFromString(beside_kinds(spec))
    return head
