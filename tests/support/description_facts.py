"""What a model says around its programs, as facts: each field of its descriptions that is set, by plain reflection.

It is the tests' own reading, apart from the code that builds and tells: a check that nothing is lost reads both sides
of an edit with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from google.protobuf.message import Message

SIDES = ("input", "output", "state", "trainingInput")
KINDS_WITH_STAGES = ("pipeline", "pipelineClassifier", "pipelineRegressor")


class Owner(NamedTuple):
    """What a fact is of: an entry; a function, without a name; or a whole model, without a function either.

    `stage` is the way to a stage in the pipelines, as in "1/0"; empty for the model that was opened.
    """

    stage: str = ""
    function: str = ""
    side: str = ""
    name: str = ""


Facts: TypeAlias = dict[tuple[Owner, str], Any]
"""Values by whom they are of, and by which field: `type.imageType.width`."""


def facts(model: Any, stage: str = "") -> Facts:
    """The facts of a Model message, and of its stages.

    A stage that is not an ML Program is two facts: the words in it, and all its bytes, but for the description.
    """
    kind = model.WhichOneof("Type") or ""
    found: Facts = {(Owner(stage), "kind"): kind, (Owner(stage), "specificationVersion"): model.specificationVersion}
    found |= _described(model.description, stage, _functions(model, kind))
    inner = getattr(model, kind, None)
    if kind in KINDS_WITH_STAGES:
        pipeline = getattr(inner, "pipeline", inner)
        found |= {(Owner(stage), f"names.{index}"): name for index, name in enumerate(pipeline.names)}  # type: ignore[union-attr]
        for index, each in enumerate(pipeline.models):  # type: ignore[union-attr]
            found |= facts(each, f"{stage}/{index}".strip("/"))
    elif kind != "mlProgram":
        rest = type(model).FromString(model.SerializeToString())
        rest.ClearField("description")
        data = rest.SerializeToString(deterministic=True)
        found[Owner(stage), "words"] = tuple(word.decode() for word in re.findall(rb"\w{3,}", data))
        found[Owner(stage), "bytes"] = data
    return found


def _functions(model: Any, kind: str) -> list[str]:
    return [*model.mlProgram.functions] if kind == "mlProgram" else [""]


def _described(description: Any, stage: str, functions: Collection[str]) -> Facts:
    """The facts of a description; what it says of a program's only function is that function's."""
    whole = type(description).FromString(description.SerializeToString())
    listed = {each.name: each for each in whole.functions}
    found: Facts = {}
    if not listed and len(functions) == 1:
        found |= _of_function(whole, stage, next(iter(functions)))
        for field in (*SIDES, "predictedFeatureName", "predictedProbabilitiesName"):
            whole.ClearField(field)
    whole.ClearField("functions")
    for name, each in listed.items():
        found |= _of_function(each, stage, name)
    return found | {(Owner(stage), path): value for path, value in _leaves(whole)}


def _of_function(described: Any, stage: str, function: str) -> Facts:
    found: Facts = {}
    for side in SIDES:
        for entry in getattr(described, side, ()):
            owner = Owner(stage, function, side, entry.name)
            found[owner, "exists"] = True
            found |= {(owner, path): value for path, value in _leaves(entry) if path != "name"}
    for field in ("predictedFeatureName", "predictedProbabilitiesName"):
        if getattr(described, field):
            found[Owner(stage, function), field] = getattr(described, field)
    return found


def _leaves(message: Message, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every field that is set, however deep; a message without any is a fact by being there."""
    if prefix and not message.ListFields():
        yield prefix, "set"
    for field, value in message.ListFields():
        path = f"{prefix}.{field.name}".strip(".")
        if isinstance(value, Message):
            yield from _leaves(value, path)
        elif isinstance(value, Mapping) or hasattr(value, "items"):
            yield from ((f"{path}.{key}", each) for key, each in value.items())
        elif field.message_type is not None:
            for index, each in enumerate(value):
                yield from _leaves(each, f"{path}.{index}")
        else:
            yield path, value if isinstance(value, str | int | float | bool) else tuple(value)


class Moves:
    """What functions and entries are called after an edit of one stage; None for what is gone.

    All else keeps its name, except that in a pipeline what is called as an entry was is called as that is now, if
    `through`: stages, and the model around them, are connected by names.
    """

    def __init__(
        self,
        functions: Mapping[Owner, str | None] | None = None,
        entries: Mapping[Owner, str | None] | None = None,
        through: bool = False,
    ) -> None:
        self._functions = functions or {}
        self._entries = entries or {}
        self._names = {owner.name: name for owner, name in self._entries.items() if name} if through else {}

    def through(self) -> Moves:
        """The same, through all stages."""
        return Moves(self._functions, self._entries, through=True)

    def now(self, owner: Owner) -> Owner | None:
        """Who an owner is now."""
        function = self._functions.get(Owner(owner.stage, owner.function), owner.function)
        name = self._entries.get(owner, self._names.get(owner.name, owner.name))
        return None if name is None or function is None else owner._replace(function=function, name=name)

    def value(self, owner: Owner, path: str, value: Any) -> Any:
        """What a fact says now: those that name an output or a function follow it."""
        if path.startswith("predicted"):
            named = self.now(Owner(owner.stage, owner.function, "output", value))
            return named.name if named else None
        if path == "defaultFunctionName":
            return self._functions.get(Owner(owner.stage, value), value)
        if path == "words":
            return tuple(self.word(word) for word in value)
        return value

    def word(self, name: str) -> str:
        """Return what a name is now, if all entries of the name are called so."""
        return self._names.get(name, name)

    def rewrites(self, words: Collection[str]) -> bool:
        """Whether a stage of these words has other bytes, for the names of what it is connected to."""
        return any(word in self._names for word in words)


def lost(before: Facts, after: Facts, moves: Moves) -> Facts:
    """The facts of `before` that are not in `after`, where what they are of has moved."""
    return {
        (owner, path): value
        for (owner, path), value in before.items()
        if repr(after.get((moves.now(owner), path))) != repr(moves.value(owner, path, value))  # type: ignore[arg-type]
        and not (path == "bytes" and moves.rewrites(before[owner, "words"]))
    }
