"""The inputs of a program on the command line: arrays and pictures in files, and random numbers."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click

from miltext.diagnostics import MiltextError, Note, codes
from miltext.diagnostics.suggestions import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.evaluation.carried import Carried, Named
    from miltext.evaluation.evaluator import Evaluator
    from miltext.evaluation.features import Feature

JSON = re.compile(r'[\[{"\d+-]|null$')
"""The beginnings of words in JSON, unless a file has this name."""


class InputChoices(NamedTuple):
    """The choices of the options for inputs: `words` by name, usually files; the `archive` of several; the `seed` of
    random numbers and their `shapes`; whether to `resize` pictures.
    """

    words: Mapping[str, str]
    archive: str | None
    seed: int | None
    shapes: Mapping[str, tuple[int, ...]]
    resize: bool

    @property
    def read(self) -> list[str]:
        """The paths of files to read, and words in place of a path."""
        return [*self.words.values(), *([self.archive] if self.archive is not None else [])]


def named(form: str) -> Callable[[click.Context, click.Parameter, Sequence[str]], dict[str, str]]:
    """Return the callback of an option `NAME=form` that may be given for several names."""

    def split(_context: click.Context, _option: click.Parameter, words: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for word in words:
            name, _, rest = word.partition("=")
            if not name or not rest:
                raise click.BadParameter(f"{word!r} is not NAME={form}.")
            if name in found:
                raise click.BadParameter(f"{name!r} is given twice: remove one of them.")
            found[name] = rest
        return found

    return split


def _shapes(context: click.Context, option: click.Parameter, words: Sequence[str]) -> dict[str, tuple[int, ...]]:
    named_sizes = named("SIZES")(context, option, words)
    for name, sizes in named_sizes.items():
        if not all(size.strip().isdecimal() for size in sizes.split(",")):
            raise click.BadParameter(f"{sizes!r} of {name!r} are not sizes: write them as in {name}=1,3,256,256.")
    return {name: tuple(map(int, sizes.split(","))) for name, sizes in named_sizes.items()}


def input_ranges(
    context: click.Context, option: click.Parameter, words: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Return the ranges of inputs by name: the callback of an option `NAME=LOW:HIGH`."""
    found = {}
    for name, word in named("LOW:HIGH")(context, option, words).items():
        low, colon, high = word.partition(":")
        try:
            ends = float(low), float(high)
        except ValueError:
            ends = (math.nan, math.nan)
        if not colon or not all(map(math.isfinite, ends)) or ends[0] > ends[1]:
            raise click.BadParameter(f"{word!r} of {name!r} is not a range: write it as in {name}=-1:1.")
        found[name] = ends
    return found


INPUT_OPTIONS = (
    click.option(
        "--input",
        "words",
        metavar="NAME=FILE",
        multiple=True,
        callback=named("FILE"),
        help="An input: an .npy file, a picture for an image, or numbers as JSON: x=0.5, x=[1,2].",
    ),
    click.option("--inputs", "archive", metavar="FILE", help="An .npz file with several inputs, by their names."),
    click.option(
        "--random",
        "seed",
        type=click.IntRange(min=0),
        is_flag=False,
        flag_value=0,
        metavar="SEED",
        help="Fill the other inputs: floats are standard normal, integers 0 or 1, "
        "pixels 0 to 255. SEED, 0 if left out, also determines the results of random operations.",
    ),
    click.option(
        "--shape",
        "shapes",
        metavar="NAME=SIZES",
        multiple=True,
        callback=_shapes,
        help="The shape of a random input of flexible sizes, as in x=1,3,256,256.  [its default]",
    ),
    click.option(
        "--resize",
        is_flag=True,
        help="Scale a picture to the default size of its input, if the input does not accept its size.",
    ),
)


def input_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for a program's inputs."""
    for option in reversed(INPUT_OPTIONS):
        command = option(command)
    return command


VERIFY_OPTIONS = (
    click.option(
        "--verify",
        is_flag=True,
        help="Prove each different replacement, and the whole model before and after; write nothing if a proof fails.",
    ),
    click.option(
        "--inputs", "archive", metavar="FILE", help="Verify on these inputs, too: an .npz file with arrays by name."
    ),
)


def verify_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a proof."""
    for option in reversed(VERIFY_OPTIONS):
        command = option(command)
    return command


def verifying_inputs(archive: str | None, *, verify: bool) -> Named | None:
    """Return the inputs for a proof. Raise MiltextError for an unreadable file, and click's UsageError."""
    from miltext.evaluation.array_files import read_inputs

    if archive is None:
        return None
    if not verify:
        raise click.UsageError("--inputs needs --verify: add --verify, or leave out --inputs")
    return read_inputs([archive])


def given_inputs(evaluator: Evaluator, given: InputChoices) -> dict[str, Carried]:
    """Return the values that options give, by the names of inputs. Raise MiltextError and click's UsageError."""
    from miltext.evaluation.array_files import read_inputs

    found = read_inputs([] if given.archive is None else [given.archive])
    for name in given.words.keys() & found.keys():
        raise click.UsageError(f"the input {name!r} is given twice, with --input and in {given.archive}")
    for name, word in given.words.items():
        numbers = _numbers(word)
        with _naming_json(name, word):
            found |= read_inputs([], {name: word}, evaluator.features) if numbers is None else {name: numbers}
    if given.resize:
        found = {name: _resized(value, evaluator.features.get(name)) for name, value in found.items()}
    return found | _random(evaluator, given, found)


@contextmanager
def naming_options(given: InputChoices) -> Iterator[None]:
    """Make an error about missing inputs name the options that provide them."""
    try:
        yield
    except MiltextError as failure:
        if given.seed is None and any(each.code == codes.MISSING_INPUT for each in failure.diagnostics):
            _add_note(failure, "--input NAME=FILE gives one input, --inputs several, and --random the missing ones")
        raise


@contextmanager
def _naming_json(name: str, word: str) -> Iterator[None]:
    """Make an error about a missing file show the syntax of numbers, if the word looks like some."""
    try:
        yield
    except MiltextError as failure:
        if JSON.match(word) and not os.path.lexists(word):
            _add_note(failure, f"numbers as JSON look like {name}=0.5 or {name}=[1,2]")
        raise


def _add_note(failure: MiltextError, note: str) -> None:
    *others, last = failure.diagnostics
    failure.diagnostics = [*others, last._replace(notes=(*last.notes, Note(note)))]


def _resized(value: Carried, feature: Feature | None) -> Carried:
    """Return a picture in the default size of its input, or as it is if the input takes its size."""
    from miltext.evaluation.pictures import is_picture, shape_of

    if feature is None or feature.image is None or not is_picture(value) or feature.allows(shape_of(value)):
        return value
    return value.resize((feature.image.width, feature.image.height))


def _numbers(word: str) -> Carried:
    """Return the value of a word as JSON if it is a number, a truth value or a list, else None."""
    try:
        value = json.loads(word)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (bool, int, float, list)) else None


def _random(evaluator: Evaluator, given: InputChoices, found: Named) -> dict[str, Carried]:
    """Return random numbers for missing inputs, except for inputs with default values."""
    from miltext.evaluation.random_inputs import random_inputs

    features = {} if given.seed is None else evaluator.features
    left = {name: features[name] for name in evaluator.inputs if name in features and name not in found}
    for name in given.shapes:
        if name not in left:
            near = did_you_mean(nearest(name, left))
            raise click.UsageError(f"--shape is for inputs that --random fills, and {name!r} is none of them{near}")
    kept = {name for name, feature in left.items() if feature.filling is not None and name not in given.shapes}
    types = {name: evaluator.inputs[name] for name in left if name not in kept}
    return random_inputs(types, given.seed or 0, features=features, shapes=given.shapes)
