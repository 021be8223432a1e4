"""The bindings of linked models: which output each input takes its value from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import Note, codes, warning
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.files.refusals import refusal
from miltext.linking.parts import End, unknown_model
from miltext.schema.types import read_type

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic, ModelError
    from miltext.linking.parts import LinkedPart
    from miltext.schema.proto import ValueType
    from miltext.schema.types import Type

TAKES, GIVES, STATES = ("input", "state"), ("output",), ("state",)
"""Sides of a model."""

MOST = 6
"""The most names in a message."""


class Bindings(NamedTuple):
    """The end that each bound input or state takes its value from: an output, or an input or state of another model.

    `stated` are the requested ones; the others follow from equal names.
    """

    parts: Sequence[LinkedPart]
    sources: dict[End, End]
    stated: set[End]

    def spelled(self, end: End) -> str:
        """Return an end for messages, as in `encoder.y`."""
        return f"{self.parts[end.part].name}.{end.name}"

    def declared(self, end: End) -> ValueType | None:
        """Return the declaration of an end; None for an undefined output."""
        return self.parts[end.part].sides[end.side][end.name]

    def type(self, end: End) -> Type:
        """Return the declared type of an end."""
        declared = self.declared(end)
        return None if declared is None else read_type(declared)

    def source(self, end: End) -> End:
        """Return the end that an end takes its value from in the end."""
        while end in self.sources:
            end = self.sources[end]
        return end

    @property
    def used(self) -> set[End]:
        """The outputs that an input is bound to."""
        return {end for end in self.sources.values() if end.side == "output"}

    @property
    def is_backward(self) -> bool:
        """Whether a model takes a value of a later one."""
        return any(source.part > target.part and source.side == "output" for target, source in self.sources.items())


def bound(parts: Sequence[LinkedPart], requested: Mapping[str, str | Sequence[str]], apart: Iterable[str]) -> Bindings:
    """Return the requested bindings, and the bindings of equal names.

    An unbound input gets the last output of its name of an earlier model, otherwise it is one with the input of its
    name of an earlier model; but the names `apart` mean different values in each model, and so do names of states.
    Raise ModelError: MIL430 for an unknown name, MIL485 for an impossible binding.
    """
    made = Bindings(parts, {}, set())
    for left, rights in requested.items():
        for right in [rights] if isinstance(rights, str) else rights:
            _bind(made, _found(parts, left, (*GIVES, *TAKES)), _found(parts, right, TAKES))
    _by_name(made, {*apart})
    _refuse_circles(made)
    return made


def _bind(made: Bindings, source: End, target: End) -> None:
    """Add a requested binding."""
    spelled = f"{made.spelled(source)}={made.spelled(target)}"
    if source == target or (source.part == target.part and source.side == "output"):
        raise _impossible(f"`{spelled}` binds a model to itself")
    if (source.side == "state") != (target.side == "state"):
        raise _impossible(f"`{spelled}` binds a state to a value: only two states can be one")
    if made.sources.get(target) == source:
        return
    if target in made.sources:
        before = made.spelled(made.sources[target])
        raise _impossible(f"`{made.spelled(target)}` is bound twice, to `{before}` and to `{made.spelled(source)}`")
    made.sources[target] = source
    made.stated.add(target)


def _by_name(made: Bindings, apart: set[str]) -> None:
    known = {end.name for part in made.parts for end in part.ends(*TAKES)}
    for name in sorted(apart - known):
        message = f"unknown input `{name}`{did_you_mean(nearest(name, sorted(known)))}"
        raise refusal(codes.UNKNOWN_NAME, message, None, Note(f"the inputs are {listed(sorted(known), 'and', MOST)}"))
    given: dict[str, End] = {}
    for part in made.parts:
        for end in part.ends("input"):
            if end in made.sources or end.name in apart:
                continue
            if end.name in given:
                made.sources[end] = given[end.name]
            else:
                given[end.name] = end
        given.update({end.name: end for end in part.ends("output")})


def later_outputs(made: Bindings, apart: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield a warning about each input of the whole whose name an output of a later model has.

    An output that an input takes, or that depends on the model of the input, means another value.
    """
    kept, used = {*apart}, made.used
    later: dict[str, End] = {}
    for part in reversed(made.parts):
        for end in part.ends("input"):
            source = later.get(end.name)
            if source is None or end in made.sources or end.name in kept or part.place in _before(made, source.part):
                continue
            names = made.spelled(end), made.spelled(source)
            message = f"`{names[0]}` stays an input, and `{names[1]}`, of a later model, is an output"
            way = f"name `{made.parts[source.part].name}` before `{part.name}`, or bind the two with `bind=`"
            other = f"`apart=` with `{end.name}` states that they are different values"
            yield warning(codes.LATER_OUTPUT, message, None, Note(way), Note(other))
        later.update({end.name: end for end in part.ends("output") if end not in used})


def _before(made: Bindings, place: int) -> set[int]:
    """Return the places of the models that a model takes values of, at first or second hand."""
    found: set[int] = set()
    todo = [place]
    while todo:
        last = todo.pop()
        ends = (source for end, source in made.sources.items() if end.part == last and source.side == "output")
        new = {source.part for source in ends} - found
        found |= new
        todo += new
    return found


# ---- names of ends


def _found(parts: Sequence[LinkedPart], spelled: str, sides: Sequence[str]) -> End:
    """Return the end that is spelled `MODEL.NAME`, where MODEL is a name or a place. Raise ModelError (MIL430)."""
    places = {str(part.place): part for part in parts} | {part.name: part for part in parts}
    ways = [(name, part) for name, part in places.items() if spelled.startswith(f"{name}.")]
    for name, part in sorted(ways, key=lambda way: -len(way[0])):
        word = spelled[len(name) + 1 :]
        end = next((end for end in part.ends(*sides) if end.name == word), None)
        if end is not None:
            return end
    if not ways:
        raise unknown_model(spelled.rpartition(".")[0] or spelled, [part.name for part in parts])
    name, part = max(ways, key=lambda way: len(way[0]))
    raise _unknown(part, spelled[len(name) + 1 :], sides)


def _unknown(part: LinkedPart, word: str, sides: Sequence[str]) -> ModelError:
    """Return the error about a name that a model does not have on some sides."""
    noun = "output" if sides == GIVES else "input" if sides == TAKES else "output or input"
    known = [end.name for end in part.ends(*sides)]
    if sides == TAKES and word in part.sides["output"]:
        message = f"`{word}` is an output of `{part.name}`, and a binding ends at an input: write `OUTPUT=INPUT`"
    else:
        message = f"`{part.name}` has no {noun} `{word}`{did_you_mean(nearest(word, known))}"
    has = f"it has {listed(known, 'and', MOST)}" if known else f"it has no {noun}"
    return refusal(codes.UNKNOWN_NAME, message, None, Note(has))


def split_binding(words: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the two sides of `A.y=B.x`, of which the second is empty if there is none.

    Names may contain a `=`, so that sides that begin with the names of models, or their places, are preferred.
    """
    known = tuple(f"{name}." for name in (*names, *map(str, range(len(names)))))
    ways = [(words[:at], words[at + 1 :]) for at, sign in enumerate(words) if sign == "="]
    likely = [way for way in ways if all(side.startswith(known) for side in way)]
    return (likely or ways or [(words, "")])[0]


def kept_outputs(made: Bindings, keep: Iterable[str]) -> list[End]:
    """Return the outputs of the whole: those in `keep`, `NAME` or `MODEL.NAME`, or else all that no input takes.

    Raise ModelError: MIL430 for an unknown name, MIL485 for a name of several outputs, or named twice.
    """
    ends = [end for part in made.parts for end in part.ends("output")]
    asked = [*keep]
    if not asked:
        return [end for end in ends if end not in made.used]
    found: list[End] = []
    for name in asked:
        alike = [end for end in ends if end.name == name]
        if len(alike) > 1:
            several = listed([made.spelled(end) for end in alike])
            raise _impossible(f"several models have an output `{name}`: write {several}")
        end = alike[0] if alike else _kept(made, name, ends)
        if end in found:
            raise _impossible(f"the output `{made.spelled(end)}` is named twice")
        found.append(end)
    return found


def _kept(made: Bindings, name: str, ends: Iterable[End]) -> End:
    if "." in name:
        return _found(made.parts, name, GIVES)
    known = [end.name for end in ends]
    message = f"unknown output `{name}`{did_you_mean(nearest(name, known))}"
    raise refusal(codes.UNKNOWN_NAME, message, None, Note(f"the outputs are {listed(known, 'and', MOST)}"))


def _impossible(message: str, *ways: str) -> ModelError:
    return refusal(codes.IMPOSSIBLE_LINK, message, None, *map(Note, ways))


# ---- circles


def _refuse_circles(made: Bindings) -> None:
    """Refuse bindings by which a value would depend on itself. Raise ModelError (MIL485), with the circle."""
    circle = _circle_of_inputs(made) or (_circle(made) if made.is_backward else [])
    if circle:
        steps = [f"`{made.spelled(made.sources[end])}` -> `{made.spelled(end)}`" for end in circle]
        way = "bind one of these inputs to a value that does not depend on it"
        raise _impossible(f"the bindings form a circle: {', '.join(steps)}", way)


def _circle_of_inputs(made: Bindings) -> list[End]:
    """Return a circle of inputs bound to each other, if there is one."""
    for start in made.sources:
        way, end = [start], made.sources[start]
        while end in made.sources and end not in way:
            way.append(end)
            end = made.sources[end]
        if end in way:
            return way[way.index(end) :][::-1]
    return []


def _circle(made: Bindings) -> list[End]:
    """Return the bound inputs of a circle, in the order of the values, if there is one."""
    needs = _Needed(made)
    done: set[End] = set()
    for start in made.sources:
        way: list[End] = []
        todo: list[Iterator[End]] = [iter((start,))]
        while todo:
            end = next(todo[-1], None)
            if end is None:
                todo.pop()
                done.update([way.pop()] if way else ())
            elif end in way:
                return way[way.index(end) :][::-1]
            elif end not in done:
                way.append(end)
                todo.append(iter(needs.of(end)))
    return []


class _Needed:
    """The bound inputs that each bound input depends on, by the operations of the model that gives its value."""

    def __init__(self, made: Bindings) -> None:
        from miltext.ir.graph import Graph
        from miltext.ir.needs import Needs

        self._made = made
        blocks = [Graph(part.built.spec.mlProgram).functions[part.function].block for part in made.parts]
        self._outputs = [{value.name: value for value in block.outputs} if block else {} for block in blocks]
        self._needs = [Needs(block) if block else None for block in blocks]

    def of(self, target: End) -> list[End]:
        """Return the bound inputs that the value of a bound input depends on."""
        source = self._made.sources[target]
        if source.side != "output":
            return [source] if source in self._made.sources else []
        needs = self._needs[source.part]
        value = self._outputs[source.part][source.name]
        outside = needs.of([value]).outside if needs else []
        ends = (End(source.part, "input", each.name) for each in outside)
        return [end for end in ends if end in self._made.sources]
