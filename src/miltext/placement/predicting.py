"""Answers about the operations of a model: whether the Neural Engine takes each, by the rules of a profile alone."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.dumps.placed import CONVERSIONS
from miltext.files.refusals import refusal
from miltext.ir.graph import Graph
from miltext.placement.features import features_of, omitted_features
from miltext.placement.rules import UNKNOWN, answering, profiles, reason_of_unknown, rules
from miltext.schema.types import TensorType
from miltext.syntax.gc_pause import gc_paused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from miltext.ir.parts import Op
    from miltext.placement.rules import Rule
    from miltext.schema.paths import Path
    from miltext.schema.proto import Program

_BRACES = re.compile(r"\{(\w+)\}")


class Answer(NamedTuple):
    """The answer about an operation: `supported`; `not supported`, with Apple's message; or `unknown`, without a row,
    with the unmeasured fact as `message`.
    """

    function: str
    name: str
    type: str
    path: Path
    answer: str
    message: str
    fix: str
    rule: Rule | None


def answers(program: Program, profile: str) -> list[Answer]:
    """Return the answers about the operations of a Program, without constants. Raise ModelError (MIL891)."""
    own = rules()[known_profile(profile)]
    with gc_paused:
        return [*_answers(program, own)]


def _answers(program: Program, own: Mapping[str, Sequence[Rule]]) -> Iterator[Answer]:
    cache: dict[tuple[object, ...], tuple[Rule | None, str]] = {}
    for path, op in Graph(program).operations().items():
        if op.is_constant or op.type in CONVERSIONS:
            continue
        features = {**omitted_features(op, str(path[3])), **features_of(op)}
        key = (op.type, *sorted(features.items()))
        if key not in cache:
            rule = answering(features, op.type, own)
            cache[key] = rule, "" if rule is not None else reason_of_unknown(features, op.type, own)
        yield _answer(path, op, *cache[key])


def known_profile(name: str) -> str:
    """Return the name of a profile. Raise ModelError (MIL891) for another name."""
    if name in profiles():
        return name
    known = did_you_mean(nearest(name, profiles())) or f"; known are {listed(profiles(), 'and')}"
    raise refusal(codes.UNKNOWN_PROFILE, f"there is no profile `{name}`{known}")


def _answer(path: Path, op: Op, rule: Rule | None, unknown: str) -> Answer:
    name = op.outputs[0].name if op.outputs else op.type
    if rule is None:
        return Answer(str(path[1]), name, op.type, path, UNKNOWN, unknown, "", None)
    message = message_of(rule, words_of(op)) if _BRACES.search(rule.message) else rule.message
    return Answer(str(path[1]), name, op.type, path, rule.answer, message, rule.fix, rule)


def message_of(rule: Rule, words: Mapping[str, str]) -> str:
    """Return Apple's message of a rule, with the words about an operation in place of braces."""
    return _BRACES.sub(lambda found: words.get(found[1], "..."), rule.message)


def words_of(op: Op) -> dict[str, str]:
    """Return the words about an operation that Apple's messages contain, by their names in braces."""
    features = features_of(op)
    found = {parameter: values[0].name for parameter in op.inputs if (values := op.values(parameter))}
    found["output"] = op.outputs[0].name if op.outputs else ""
    for name in ("kernel_width", "inner"):
        if name in features:
            (found[name],) = map(str, features[name])
    if "inner" in found:
        found["inner_bytes"] = str(2 * int(found["inner"]))
    found["dimensions"] = _dimensions(op)
    return found


def _dimensions(op: Op) -> str:
    """Return the sizes of the first tensor beyond the limit in Apple's order, which is known for four dimensions."""
    shapes = [each.type.shape for each in (*op.operands, *op.outputs) if isinstance(each.type, TensorType)]
    beyond = [shape for shape in shapes if any(size is not None and size > 65536 for size in shape)]
    if not beyond or len(beyond[0]) != 4:
        return "..."
    batch, channels, height, width = beyond[0]
    return f"N{batch}D1C{channels}H{height}W{width}"


def tallies(found: Iterable[Answer]) -> Counter[str]:
    """Return the number of operations with each answer."""
    return Counter(each.answer for each in found)
