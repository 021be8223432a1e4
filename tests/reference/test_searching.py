"""Finding operations by name, by words, by family and by opset."""

from __future__ import annotations

import pytest

import miltext
from miltext.reference.entries import entries, families
from miltext.reference.facts import ordered
from miltext.reference.searching import UnknownWord, find, related
from miltext.schema.operations import all_names, first_opset, signature
from miltext.schema.opsets import OPSETS


def names(*words: str, opset: str | None = None, family: str | None = None) -> list[str]:
    return [entry.name for entry in find(words, opset, family).entries]


@pytest.mark.parametrize("name", all_names())
def test_a_name_is_found_in_any_spelling(name: str) -> None:
    spellings = [name, name.upper(), name.replace("_", "-"), name.replace("_", ""), name.title().replace("_", "")]
    assert {tuple(names(spelling)) for spelling in spellings} == {(name,)}
    assert find([name]).names


def test_several_names_are_reported_in_their_order_each_once() -> None:
    assert names("relu", "Conv", "RELU") == ["relu", "conv"]
    assert names("relu conv") == ["relu", "conv"]  # as a shell gives what is quoted


def test_without_words_all_operations_of_the_opset_are_found() -> None:
    assert names() == names("") == names(" ") == list(entries())
    assert not find([]).names
    for opset in OPSETS:
        having = [name for name in entries() if signature(name, opset.text)]
        assert names(opset=opset.text) == names(opset=opset.proto) == names(opset=opset.text.upper()) == having
    assert len(names(opset="ios15")) < len(names(opset="ios18")) == len(all_names())


def test_words_not_names_are_searched_in_names_and_descriptions() -> None:
    assert names("reduce", "log") == ["reduce_log_sum", "reduce_log_sum_exp"]
    assert names("floor", "rounded") == ["floor_div"]  # `floor` is a name
    assert names("MATRIX", "Product") == ["einsum", "linear", "matmul"]
    assert names("swish") == ["silu"]
    assert names("normal", "random") == ["random_normal"]
    assert "fill" not in names("where")  # which has `everywhere`
    assert names("sqrt(sum(x^2") == ["reduce_l2_norm", "l2_pool", "l2_norm"]  # a word as others, not a pattern
    assert names("^2)") == [name for name, entry in entries().items() if "^2)" in entry.description]
    with pytest.raises(UnknownWord):
        names(".ormal")
    assert names("normalization") == [name for name, entry in entries().items() if entry.family == "normalization"]
    assert not find(["swish"]).names


def test_names_that_operations_have_elsewhere_are_words() -> None:
    assert names("unsqueeze") == ["expand_dims"]
    assert names("Permute") == ["transpose"]
    assert "concat" in names("cat")
    assert names("conv2d") == ["conv"]
    assert "select" in names("where")
    assert {"resize_bilinear", "upsample_bilinear"} <= set(names("interpolate"))
    assert names("unsqueeze", family="tensor shape") == ["expand_dims"]
    with pytest.raises(UnknownWord, match=r"^the operation `erfc` is not known; it is `sub\(1, erf\(x\)\)`$"):
        find(["erfc"])


@pytest.mark.parametrize("family", families())
def test_family_is_found_in_any_spelling_and_its_names_are_words(family: str) -> None:
    members = [name for name, entry in entries().items() if entry.family == family]
    for spelling in (family, family.upper(), family.replace(" ", "-"), family.replace(" ", "_")):
        assert names(family=spelling) == members
    found = find([members[0]], family=family)
    assert members[0] in [entry.name for entry in found.entries]
    assert not found.names


def test_a_name_that_is_also_a_word_is_searched_in_a_family() -> None:
    assert names("conv") == ["conv"]
    assert names("conv", family="convolution") == ["conv", "conv_quantized", "conv_transpose"]
    assert names("sum", family="reduction", opset="ios15") == [
        name for name in names("sum") if entries()[name].family == "reduction"
    ]


UNKNOWN = {
    ("cnov",): "the operation `cnov` is not known; did you mean `conv`?",
    ("xyzzy",): "the operation `xyzzy` is not known; `miltext ops` lists all",
    ("conv", "xyzzy"): "no description of an operation contains all of `conv` and `xyzzy`; `miltext ops` lists all",
    (
        "xyzzy",
        "conv",
        "conv",
    ): "no description of an operation contains all of `xyzzy`, `conv` and `conv`; `miltext ops` lists all",
}


@pytest.mark.parametrize("words", UNKNOWN, ids=" ".join)
def test_an_unsuccessful_search_ends_with_a_way_out(words: tuple[str, ...]) -> None:
    with pytest.raises(UnknownWord) as refused:
        find(words)
    assert str(refused.value) == UNKNOWN[words]


def test_an_unknown_opset_or_family_lists_the_known_ones() -> None:
    with pytest.raises(UnknownWord, match=r"^the opset `macos` is not known; there are `ios15`, .* and `ios19`$"):
        find([], "macos")
    with pytest.raises(UnknownWord, match=r"^the family `poling` is not known; did you mean `pooling`\?$"):
        find([], family="poling")
    with pytest.raises(
        UnknownWord, match=r"^the family `xyzzy` is not known; there are `elementwise`, .* and `model`$"
    ):
        find([], family="xyzzy")
    with pytest.raises(UnknownWord, match=r"^the family `` is not known; there are"):
        find([], family="")


def test_an_operation_that_came_later_is_reported() -> None:
    for name in all_names():
        if (since := first_opset(name)) != "ios15":
            with pytest.raises(UnknownWord, match=f"^`{name}` came with {since}, and ios15 does not have it$"):
                find([name], "CoreML5")
    with pytest.raises(UnknownWord, match="came with"):
        find(["relu", "read_state"], "ios16")
    with pytest.raises(UnknownWord, match=r"^the family `state` has no operation in ios16$"):
        find([], "ios16", "state")
    with pytest.raises(UnknownWord, match=r"^the family `state` has no operation whose description contains `conv`$"):
        find(["conv"], family="state")


def test_related_operations_speak_of_one_by_its_whole_name() -> None:
    assert related(entries()["conv"]) == ["conv_quantized", "conv_transpose"]
    assert related(entries()["batch_to_space"]) == ["space_to_batch"]
    assert "relu6" not in related(entries()["relu"])
    assert all(entry.name not in related(entry) for entry in entries().values())


# ---- the records of the public function


def test_the_public_function_finds_the_same() -> None:
    assert [record["name"] for record in miltext.operations()] == names()
    assert [record["name"] for record in miltext.operations("matrix", "product")] == names("matrix", "product")
    with pytest.raises(ValueError, match="did you mean `conv`"):
        miltext.operations("cnov")


@pytest.mark.parametrize("opset", [opset.text for opset in OPSETS])
def test_a_record_has_the_facts_of_the_table(opset: str) -> None:
    for record in miltext.operations(opset=opset):
        known = signature(record["name"], opset)
        assert known is not None
        assert (record["opset"], tuple(record["outputs"]), record["open"]) == (known.opset, known.outputs, known.open)
        assert record["versions"][0] == record["since"] == first_opset(known.name)
        assert {each["name"] for each in record["parameters"]} == {*known.parameters}
        for each in record["parameters"]:
            parameter = known.parameters[each["name"]]
            assert (each["dtypes"], each["kinds"]) == (ordered(parameter.dtypes), sorted(parameter.kinds))
            assert [each[key] for key in ("required", "constant", "attribute", "variadic", "default", "asked")] == [
                parameter.required, parameter.constant, parameter.attribute, parameter.variadic, parameter.default,
                parameter.asked,
            ]  # fmt: skip
            assert each["shape"] == [pattern.text for pattern in parameter.shape]
            assert each["words"] == list(parameter.words)
        required = [each["required"] for each in record["parameters"]]
        assert required == sorted(required, reverse=True)


def test_a_record_states_since_when_a_parameter_is_there() -> None:
    (record,) = miltext.operations("topk")
    since = {each["name"]: each["since"] for each in record["parameters"]}
    assert since == {
        "x": "ios15", "k": "ios15", "axis": "ios15", "ascending": "ios15", "sort": "ios16", "return_indices": "ios16",
        "output_indices_dtype": "ios17",
    }  # fmt: skip
    (before,) = miltext.operations("topk", opset="ios16")
    assert [each["name"] for each in before["parameters"]][-1] == "return_indices"
