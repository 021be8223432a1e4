"""Descriptions in TOML: what each key makes, and where a mistake stands."""

from __future__ import annotations

from typing import Any

import pytest

from miltext.descriptions.reading import MOST_REPORTED, read_description
from miltext.descriptions.words import BY_TYPE, TYPES
from miltext.diagnostics import Diagnostic, ModelError, line_and_column
from miltext.schema.proto import Model


def head(text: str) -> Model:
    return read_description(text, "model.toml").head


def mistakes(text: str) -> list[tuple[str, str, str]]:
    """The code, the place and the message of each mistake in a text."""
    with pytest.raises(ModelError) as error:
        read_description(text, "model.toml")
    assert error.value.path == "model.toml"
    assert error.value.text == text
    return [(found.code, place(text, found), found.message) for found in error.value.diagnostics]


def place(text: str, found: Diagnostic) -> str:
    return "" if found.span is None else "{}:{}".format(*line_and_column(text, found.span.start))


X = '[[input]]\nname = "x"\n'
ARRAY = f'{X}type = "multiArray"\ndataType = "fp32"\n'
IMAGE = f'{X}type = "image"\n'

MISTAKES = {
    # not TOML
    'specificationVersion = "': ("MIL470", "1:25", "this is not TOML: it ends too early"),
    "[[input]\n": ("MIL470", "1:9", "this is not TOML"),
    f"{X}name = 'y'\n": ("MIL470", "3:1", 'this is not TOML: Key "name" already exists'),
    f"{X}type = 'image'\n[[output]]\nname = 'y'\n'name' = 'z'\n": ("MIL470", "6:1", 'Key "name" already exists'),
    "isUpdatable = true\n\nisUpdatable = false\n[metadata]\n": ("MIL470", "3:1", 'Key "isUpdatable" already exists'),
    "isUpdatable = true\nisUpdatable = false": ("MIL470", "2:1", 'Key "isUpdatable" already exists'),
    "[metadata]\nauthor = 'a'\n[metadata]\nlicense = 'b'": ("MIL470", "3:2", 'Key "metadata" already exists'),
    # keys in another place
    f"{X}specificationVersion = 9\n": ("MIL471", "3:1", "`specificationVersion`: it belongs to the model, above the"),
    f"{X}classLabels = ['a']\n": ("MIL471", "3:1", "no key `classLabels`: it belongs to the model, above the first"),
    "[metadata.userDefined]\ncom.x.y = 'nested'\n": ("MIL472", "2:11", 'a key with dots in quotes, `"com.x.y" = ...`'),
    # two words
    f"{ARRAY}shapeRange = [[1, 2]]\nenumeratedShapes = [[1]]\n": (
        "MIL475",
        "5:14",
        "beside `enumeratedShapes`, with the",
    ),
    f"{IMAGE}widthRange = [1, 2]\nenumeratedSizes = [[1, 1]]\n": ("MIL475", "4:14", "beside `enumeratedSizes`, with"),
    "isUpdatable = yes": ("MIL470", "1:15", "this is not TOML"),
    # keys
    "specificationversion = 9": (
        "MIL471",
        "1:1",
        "a description has no key `specificationversion`; did you mean `spec",
    ),
    f"{X}colour = 1": ("MIL471", "3:1", "`[[input]]` has no key `colour`; it has `name`, `shortDescription`"),
    f'{IMAGE}shape = [1, 3, 2, 2]\nwidth = 2\nheight = 2\ncolorSpace = "RGB"': (
        "MIL471",
        "4:1",
        '`shape` belongs to the type "multiArray" or "state", and this one is "image"',
    ),
    f"{X}width = 3": ("MIL471", "3:1", '`width` belongs to the type "image", and this has no `type`'),
    "[[inputs]]\nname = 'x'": ("MIL471", "1:3", "did you mean `input`?"),
    "[metadata]\nlicence = ''": ("MIL471", "2:1", "`[metadata]` has no key `licence`; did you mean `license`?"),
    "[[function]]\nname = 'f'\n[[function.trainingInput]]\nname = 'x'": (
        "MIL471",
        "3:12",
        "has no key `trainingInput`",
    ),
    "name = 'x'": ("MIL471", "1:1", "a description has no key `name`"),
    # kinds of values
    "specificationVersion = '9'": ("MIL472", "1:24", "`specificationVersion` takes a whole number, not a string"),
    "specificationVersion = 9.0": ("MIL472", "1:24", "not 9.0"),
    "specificationVersion = true": ("MIL472", "1:24", "not a truth value"),
    "isUpdatable = 1": ("MIL472", "1:15", "`isUpdatable` takes `true` or `false`, not a number"),
    "predictedFeatureName = 2020-01-01": ("MIL472", "1:24", 'takes a string, as in `"..."`, not a date or time'),
    f"{ARRAY}shape = 3": ("MIL472", "5:9", "`shape` takes a list of numbers, as in `[1, 3]`, not a number"),
    f"{ARRAY}shape = [1,\n  2.5]": ("MIL472", "6:3", "`shape` takes a whole number, not 2.5"),
    f"{ARRAY}shapeRange = [[1, 2], [3]]": ("MIL472", "5:23", "`shapeRange` takes a list of a least and a greatest"),
    f"{ARRAY}enumeratedShapes = [[1, 2], 3]": ("MIL472", "5:29", "`enumeratedShapes` takes a list of numbers"),
    f"{ARRAY}default = 'one'": ("MIL472", "5:11", "`default` takes a number, not a string"),
    f"{IMAGE}enumeratedSizes = [[1, 2, 3]]": ("MIL472", "4:20", "a list of a width and a height, as in `[640, 480]`"),
    "input = 3": ("MIL472", "1:9", "`input` takes an array of tables, `[[input]]`, not a number"),
    "input = [3]": ("MIL472", "1:10", "`input` takes a table, not a number"),
    "[input]\nname = 'x'": ("MIL472", "1:2", "`input` takes an array of tables, `[[input]]`, not a table"),
    "metadata = 'x'": ("MIL472", "1:12", "`metadata` takes a table, not a string"),
    "[metadata.userDefined]\na = 1": ("MIL472", "2:5", "`a` takes a string"),
    "[[metadata]]": ("MIL472", "1:3", "`metadata` takes a table, not a list"),
    "classLabels = 'a'": ("MIL472", "1:15", "`classLabels` takes a list of strings or of whole numbers, not a string"),
    "classLabels = ['a', 1]": ("MIL472", "1:21", "`classLabels` takes a string"),
    "classLabels = [1, 'a']": ("MIL472", "1:19", "`classLabels` takes a whole number, not a string"),
    "classLabels = [1.5]": ("MIL472", "1:16", "`classLabels` takes a whole number, not 1.5"),
    "unspelled = 'xyz'": ("MIL472", "1:13", "`unspelled` is not what `miltext describe` writes"),
    "unspelled = '08'": ("MIL472", "1:13", "`unspelled` is not what `miltext describe` writes"),
    "unspelled = 'b21f00'": ("MIL472", "1:13", "contains fields that do not belong to a description"),
    "unspelled = 8": ("MIL472", "1:13", "takes a string"),
    # words
    f"{X}type = 'multiarray'": ("MIL473", "3:8", '`type` cannot be "multiarray"; did you mean `multiArray`?'),
    f"{ARRAY}shape = [1]".replace("multiArray", "multiarray"): ("MIL473", "3:8", "did you mean `multiArray`?"),
    f"{X}type = ['image']\nwidth = 1": ("MIL472", "3:8", '`type` takes a string, as in `"..."`, not a list'),
    f"{X}type = 'tensor'": ("MIL473", "3:8", "write one of image, multiArray, int64, double, string, dictionary"),
    f"{X}type = 'multiArray'\ndataType = 'float32'": ("MIL473", "4:12", '`dataType` cannot be "float32"'),
    f"{IMAGE}colorSpace = 'rgb'": ("MIL473", "4:14", "did you mean `RGB`?"),
    f"{X}type = 'dictionary'\nkeyType = 'int'": ("MIL473", "4:11", "did you mean `int64`?"),
    # numbers
    "specificationVersion = -1": ("MIL474", "1:24", "takes a number from 0 to 2147483647, not -1"),
    "specificationVersion = 2147483648": ("MIL474", "1:24", "not 2147483648"),
    f"{IMAGE}width = 9223372036854775808": ("MIL474", "4:9", "to 9223372036854775807, not 9223372036854775808"),
    f"{ARRAY}shape = [1, -1]": ("MIL474", "5:13", "`shape` takes a number from 0"),
    f"{ARRAY}shapeRange = [[2, 1]]": ("MIL474", "5:19", "takes the least number first, and 1 is less than 2"),
    f"{ARRAY}default = 1e39": ("MIL474", "5:11", "this is too large"),
    f"{X}type = 'multiArray'\ndataType = 'int32'\ndefault = 2147483648": ("MIL474", "5:11", "to 2147483647"),
    "classLabels = [9223372036854775808]": ("MIL474", "1:16", "takes a number from -9223372036854775808"),
    # missing, and twice
    "[[input]]": ("MIL475", "1:1", "this `[[input]]` has no `name`"),
    "[[input]]\n[[input]]\nname = 'x'": ("MIL475", "1:1", "has no `name`"),
    "[[input]]\nname = 'x'\n[[input]]\nisOptional = true": ("MIL475", "3:1", "has no `name`"),
    "[[function]]": ("MIL475", "1:1", "this `[[function]]` has no `name`"),
    f"{ARRAY}shape = [1]\nenumeratedShapes = [[1]]\nshapeRange = [[1, 1]]": (
        "MIL475",
        "7:14",
        "beside `enumeratedShapes`, with the same",
    ),
    f"{IMAGE}enumeratedSizes = []\nwidthRange = [1, 2]": ("MIL475", "5:14", "remove one of them"),
    f"{X}type = 'multiArray'\ndefault = 1": ("MIL475", "4:11", "`default` needs a `dataType`"),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_at_its_place(text: str) -> None:
    code, where, said = MISTAKES[text]
    [(found, at, message)] = mistakes(text)
    assert (found, at) == (code, where), message
    assert said in message


def test_all_mistakes_are_reported_at_once() -> None:
    text = "isUpdatable = 1\n[[input]]\ntype = 'x'\nshap = 1\n"
    text += "[[model]]\n[[model.output]]\nname = 1\n[model.metadata]\nx = 1\n"
    assert [(code, at) for code, at, _ in mistakes(text)] == [
        ("MIL472", "1:15"),
        ("MIL471", "4:1"),
        ("MIL475", "2:1"),
        ("MIL473", "3:8"),
        ("MIL471", "9:1"),
        ("MIL472", "7:8"),
    ]


def test_very_many_mistakes_are_not_all_reported() -> None:
    assert len(mistakes("".join(f"x{index} = 1\n" for index in range(99)))) == MOST_REPORTED


def test_a_place_is_found_among_similar_words() -> None:
    text = '# [[input]]\n[[input]] # [[input]]\nname = "[[input]]"\nshortDescription = """\n[[input]]\ntype = 1\n"""\n'
    text += "[[input]]\ntype = 1\nname = 'y'\n"
    assert [(code, at) for code, at, _ in mistakes(text)] == [("MIL472", "9:8")]


def test_tables_may_be_written_in_any_way() -> None:
    long = f"{ARRAY}shape = [1]\n[metadata]\nauthor = 'me'\n[[output]]\nname = 'y'\n"
    short = "output = [{name = 'y'}]\nmetadata.author = 'me'\ninput = [{ shape = [1], dataType = 'fp32', type = "
    short += "'multiArray', name = 'x' }]"
    assert head(long) == head(short)


def test_a_byte_order_and_other_line_ends() -> None:
    assert head(ARRAY.replace("\n", "\r\n")) == head(ARRAY)


def test_infinity_stands_for_minus_one_in_the_schema() -> None:
    made = head(f"{ARRAY}shapeRange = [[1, inf], [2, -1], [3, 3]]")
    sizes = made.description.input[0].type.multiArrayType.shapeRange.sizeRanges
    assert [(each.lowerBound, each.upperBound) for each in sizes] == [(1, -1), (2, -1), (3, 3)]


DEFAULTS: dict[str, tuple[str, Any]] = {
    "fp16": ("floatDefaultValue", 1.5),
    "fp32": ("floatDefaultValue", 1.5),
    "fp64": ("doubleDefaultValue", 1.5),
    "int32": ("intDefaultValue", -7),
    "int8": ("intDefaultValue", -7),
}


@pytest.mark.parametrize("dtype", DEFAULTS)
def test_a_default_is_held_as_its_data_type_states(dtype: str) -> None:
    member, value = DEFAULTS[dtype]
    made = head(f"[[input]]\ndefault = {value}\nname = ''\ntype = 'multiArray'\ndataType = '{dtype}'")
    array = made.description.input[0].type.multiArrayType
    assert array.WhichOneof("defaultOptionalValue") == member
    assert getattr(array, member) == value


def test_each_type_has_a_word() -> None:
    for word, member in TYPES.items():
        made = head(f"{X}type = '{word}'")
        assert made.description.input[0].type.WhichOneof("Type") == member
    assert BY_TYPE.keys() <= TYPES.keys()


def test_nothing_is_described_by_nothing() -> None:
    assert head("") == Model()
    assert head("# only a comment\n") == Model()
    assert head("[metadata]").description.HasField("metadata")
    assert head("metadata = {}").description.HasField("metadata")
