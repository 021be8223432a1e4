"""Pipelines and networks that two branches changed, merged by git with and without git-lfs, and resolved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.containers import NEURAL_NETWORK
from support.git_scenes import PACKAGE, Checkout, require_sound
from support.package_versions import Edit, folder_of, retrained, save
from support.pipelines import of_text, piped

import miltext
from miltext.containers.opening import open_model
from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import Model
from miltext.schema.wire import wire_of
from miltext.weight_files.blob_storage import BlobWriter

STAGE = """program(1.3)
{{
    func main<ios16>(tensor<fp16, [4]> {x}) {{
            tensor<fp16, [4]> w = const()[name = string("w"), val = tensor<fp16, [4]>({at})];
            tensor<fp16, [4]> inner = add(x = {x}, y = w)[name = string("inner")];
            tensor<fp16, [4]> middle = relu(x = inner)[name = string("middle")];
            tensor<fp16, [4]> {y} = tanh(x = middle)[name = string("{y}")];
        }} -> ({y});
}}
"""

PLACE = 'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64({}))'

NAMES = ("head", "tail")
HEADINGS = [f'// model "{name}"' for name in NAMES]


def spec_of(package: Path) -> Model:
    spec = open_model(package).spec
    assert spec is not None
    return spec


def made(spec: Model) -> Edit:
    """Put a model in place of what is there."""
    return lambda package: save(package, spec)


def pipeline(*names: str) -> Edit:
    """Put a pipeline of two programs there, whose weights are in one file."""

    def edit(package: Path) -> None:
        with BlobWriter(folder_of(package) / "weights" / "weight.bin") as writer:
            offsets = [writer.add_packed(BY_NAME["fp16"], bytes([0, 60 + index] * 4)) for index in range(2)]
        ends = zip((("x", "a"), ("a", "y")), offsets, strict=True)
        stages = [of_text(STAGE.format(x=x, y=y, at=PLACE.format(offset))) for (x, y), offset in ends]
        save(package, piped(*stages, names=names))

    return edit


def stage(index: int, old: str, new: str) -> Edit:
    """Change the text of a program in the pipeline."""

    def edit(package: Path) -> None:
        spec = spec_of(package)
        text = miltext.to_text(spec.pipeline.models[index].mlProgram)
        assert old in text
        spec.pipeline.models[index].mlProgram.CopyFrom(miltext.parse(text.replace(old, new)))
        save(package, spec)

    return edit


def operation(index: int, new: str) -> Edit:
    return stage(index, "= relu(", f"= {new}(")


def described(change: Callable[[Model], object]) -> Edit:
    def edit(package: Path) -> None:
        spec = spec_of(package)
        change(spec)
        save(package, spec)

    return edit


def author(name: str) -> Edit:
    return described(lambda spec: setattr(spec.description.metadata, "author", name))


def license_of(name: str) -> Edit:
    return described(lambda spec: setattr(spec.description.metadata, "license", name))


def author_of_stage(index: int, name: str) -> Edit:
    return described(lambda spec: setattr(spec.pipeline.models[index].description.metadata, "author", name))


def without(index: int) -> Edit:
    def edit(package: Path) -> None:
        spec = spec_of(package)
        del spec.pipeline.models[index], spec.pipeline.names[index]
        save(package, spec)

    return edit


def of_base(checkout: Checkout, base: Edit) -> None:
    checkout.edit([base])
    checkout.commit()


def types(package: Path, index: int) -> list[str]:
    [block] = spec_of(package).pipeline.models[index].mlProgram.functions["main"].block_specializations.values()
    return [each.type for each in block.operations]


def weights(package: Path) -> list[str]:
    """What the weight of each model holds."""
    found = [each.model.weights for each in open_model(package).programs()]
    return [each.digest(entry) for each in found for entry in each.entries.values()]


def sound(checkout: Checkout, count: int = 2) -> None:
    """The package is sound, but for the output of the pipeline that a removed model gave."""
    require_sound(checkout.package, "pipeline", count, flaw="MIL457" if count == 1 else "")


# ---- one side


CONFLICTS: dict[str, tuple[Sequence[Edit], Sequence[Edit]]] = {
    "one operation": ([operation(0, "cos")], [operation(0, "sin")]),
    "beside a weight of theirs": ([operation(0, "cos")], [operation(0, "sin"), retrained(1, 1)]),
    "beside a weight of each": ([operation(0, "cos"), retrained(0, 1)], [operation(0, "sin"), retrained(1, 1)]),
    "one weight": ([retrained(1, 1)], [retrained(1, 2)]),
    "both models": ([operation(0, "cos"), operation(1, "cos")], [operation(0, "sin"), operation(1, "sin")]),
    "the author": ([author("a")], [author("b"), operation(1, "sin")]),
    "the author of a model": ([author_of_stage(1, "a")], [author_of_stage(1, "b")]),
    "a model less": ([without(1)], [operation(1, "sin")]),
}


@pytest.mark.parametrize("side", ["ours", "theirs"])
@pytest.mark.parametrize("name", CONFLICTS)
def test_a_pipeline_in_conflict_is_resolved_whole(name: str, side: str, checkout: Checkout) -> None:
    resolved_whole(name, side, checkout)


@pytest.mark.any_version
@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_pipeline_that_git_lfs_keeps_is_resolved_whole(side: str, lfs_checkout: Checkout) -> None:
    resolved_whole("beside a weight of theirs", side, lfs_checkout)


def resolved_whole(name: str, side: str, checkout: Checkout) -> None:
    of_base(checkout, pipeline(*NAMES))
    assert f"`miltext merge --resolve ours {PACKAGE}` takes ours whole" in checkout.merge(*CONFLICTS[name])
    assert checkout.unmerged
    ours = len(spec_of(checkout.package).pipeline.models)
    sound(checkout, ours)  # before it is resolved, too
    checkout.resolve(side, PACKAGE)
    assert checkout.unmerged == ""
    assert checkout.git("diff", "--cached", "--raw", "--no-textconv", side, "--", PACKAGE) == ""
    assert checkout.git("status", "--porcelain").count("??") == 0
    sound(checkout, 1 if (name, side) == ("a model less", "ours") else 2)


# ---- an edited text


@pytest.mark.any_version
@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_each_model_follows_the_text_below_its_line(first: int, second: int, any_checkout: Checkout) -> None:
    of_base(any_checkout, pipeline(*NAMES))
    ours = [operation(0, "cos"), operation(1, "cos"), retrained(0, 1)]
    theirs = [operation(0, "sin"), operation(1, "sin"), retrained(1, 1)]
    any_checkout.merge(ours, theirs)
    lines = any_checkout.text.read_text().splitlines()
    assert [line for line in lines if line.startswith("//")] == HEADINGS
    any_checkout.take_in_text(first, second)
    any_checkout.resolve(any_checkout.text.name, PACKAGE)
    assert any_checkout.unmerged == ""
    assert not any_checkout.text.exists()
    for index, side in enumerate((first, second)):
        assert {1: "cos", 2: "sin"}[side] in types(any_checkout.package, index)
    sound(any_checkout)
    held = weights(any_checkout.package)
    for index, commit in enumerate(("ours", "theirs")):
        any_checkout.git("restore", f"--source={commit}", "--", PACKAGE)
        assert weights(any_checkout.package)[index] == held[index]


@pytest.mark.parametrize("side", [1, 2])
def test_a_text_of_comments_alone_states_whose_description_it_is(side: int, checkout: Checkout) -> None:
    of_base(checkout, pipeline(*NAMES))
    checkout.merge([author_of_stage(1, "a"), operation(0, "cos")], [author_of_stage(1, "b"), retrained(0, 1)])
    assert '// model "tail": description.metadata.author: "a"' in checkout.text.read_text()
    checkout.take_in_text(side)
    checkout.resolve(checkout.text.name, PACKAGE)
    models = spec_of(checkout.package).pipeline.models
    assert models[1].description.metadata.author == {1: "a", 2: "b"}[side]
    assert "cos" in types(checkout.package, 0)
    sound(checkout)


@pytest.mark.any_version
@pytest.mark.parametrize("side", [1, 2])
def test_a_model_that_one_side_took_away_follows_its_comment(side: int, checkout: Checkout) -> None:
    """Theirs changed it; ours has no comment."""
    of_base(checkout, pipeline(*NAMES))
    checkout.merge([without(1), author("a")], [operation(1, "sin")])
    checkout.take_in_text(side)
    checkout.resolve(checkout.text.name, PACKAGE)
    spec = spec_of(checkout.package)
    assert [*spec.pipeline.names] == [*NAMES[: 1 if side == 1 else 2]]
    assert spec.description.metadata.author == "a"
    if side == 2:
        assert "sin" in types(checkout.package, 1)
    sound(checkout, side)


def renamed(text: str) -> str:
    return text.replace(HEADINGS[1], "// the other model")


SPOILED: dict[str, tuple[Callable[[str], str], str]] = {
    "no line": (renamed, f"the text has no line `{HEADINGS[1]}`"),
    "a line twice": (lambda text: text.replace(HEADINGS[1], HEADINGS[0]), f"`{HEADINGS[0]}` occurs twice"),
    "a program before": (lambda text: f"program(1.3) {{ }}\n{text}", "has a program above all headings"),
    "an error": (lambda text: text.replace("x = middle", "x = no_middle"), "error[MIL"),
    "no program": (lambda text: text[: text.index(HEADINGS[1]) + len(HEADINGS[1])], "error[MIL"),
    "markers": (lambda text: f"{text}\n<<<<<<< ours\n", "MIL863"),
}


@pytest.mark.any_version
@pytest.mark.parametrize("name", SPOILED)
def test_a_text_that_does_not_state_all_changes_nothing(name: str, checkout: Checkout) -> None:
    of_base(checkout, pipeline(*NAMES))
    checkout.merge([operation(0, "cos"), operation(1, "cos")], [operation(0, "sin"), operation(1, "sin")])
    checkout.take_in_text(1)
    spoil, said = SPOILED[name]
    text = spoil(checkout.text.read_text())
    checkout.text.write_text(text)
    before = checkout.git("ls-files", "-s", "-u"), checkout.git("diff", "--raw", "--no-textconv")
    told = checkout.resolve(checkout.text.name, PACKAGE, status=2 if name == "no program" else 1)
    assert said in told
    assert (checkout.git("ls-files", "-s", "-u"), checkout.git("diff", "--raw", "--no-textconv")) == before
    assert checkout.text.read_text() == text


@pytest.mark.any_version
def test_an_error_is_reported_at_its_place_in_the_whole_text(checkout: Checkout) -> None:
    of_base(checkout, pipeline(*NAMES))
    checkout.merge([operation(0, "cos"), operation(1, "cos")], [operation(0, "sin"), operation(1, "sin")])
    checkout.take_in_text(1)
    text = checkout.text.read_text()
    at = text.rindex("x = middle")
    checkout.text.write_text(f"{text[:at]}x = no_middle{text[at + len('x = middle') :]}")
    told = checkout.resolve(checkout.text.name, PACKAGE, status=1)
    assert f"{checkout.text.name}:{text[:at].count(chr(10)) + 1}:" in told


# ---- both sides add it


@pytest.mark.any_version
@pytest.mark.parametrize("names", [NAMES, ()])
def test_a_pipeline_that_both_sides_added_is_one(names: tuple[str, ...], any_checkout: Checkout) -> None:
    both = pipeline(*names)
    ours, theirs = [both, author("a"), operation(0, "cos")], [both, license_of("b"), operation(0, "cos")]
    any_checkout.merge(ours, theirs, added=True)
    assert any_checkout.unmerged == ""
    spec = spec_of(any_checkout.package)
    assert (spec.description.metadata.author, spec.description.metadata.license) == ("a", "b")
    assert len(spec.pipeline.models) == 2
    assert [*spec.pipeline.names] == [*names]
    sound(any_checkout)


@pytest.mark.any_version
@pytest.mark.parametrize("side", ["ours", "theirs", "text"])
def test_pipelines_that_both_sides_added_otherwise_are_resolved(side: str, any_checkout: Checkout) -> None:
    both = pipeline(*NAMES)
    shown = any_checkout.merge([both, operation(1, "cos")], [both, operation(1, "sin"), retrained(0, 1)], added=True)
    assert "both sides changed" in shown
    sound(any_checkout)
    if side == "text":
        any_checkout.take_in_text(2)
        any_checkout.resolve(any_checkout.text.name, PACKAGE)
    else:
        any_checkout.resolve(side, PACKAGE)
    assert any_checkout.unmerged == ""
    assert {"ours": "cos"}.get(side, "sin") in types(any_checkout.package, 1)
    sound(any_checkout)


# ---- neural networks


def network() -> Model:
    spec = Model.FromString(NEURAL_NETWORK)
    spec.description.input.add(name="x").type.multiArrayType.SetInParent()
    spec.description.output.add(name="y").type.multiArrayType.SetInParent()
    return spec


def layers(number: int) -> Edit:
    """Have a network hold something else, of which the schema has nothing."""
    return described(lambda spec: spec.MergeFromString(b"\xa2\x1f\x02\x08" + bytes([number])))


def test_metadata_of_a_network_is_merged(any_checkout: Checkout) -> None:
    of_base(any_checkout, made(network()))
    any_checkout.merge([author("a")], [license_of("b"), layers(2)])
    assert any_checkout.unmerged == ""
    spec = spec_of(any_checkout.package)
    assert (spec.description.metadata.author, spec.description.metadata.license) == ("a", "b")
    wanted = network()
    wanted.description.metadata.author, wanted.description.metadata.license = "a", "b"
    wanted.MergeFromString(b"\xa2\x1f\x02\x08\x02")
    assert wire_of(spec) == wire_of(wanted)
    stored = any_checkout.git("cat-file", "blob", f"HEAD:{PACKAGE}/Data/com.apple.CoreML/model.mlmodel")
    is_lfs = (any_checkout.folder / ".gitattributes").exists() and "lfs" in (
        any_checkout.folder / ".gitattributes"
    ).read_text()
    assert stored.startswith("version https://git-lfs") == is_lfs


@pytest.mark.any_version
@pytest.mark.parametrize("side", ["ours", "theirs", "text"])
@pytest.mark.parametrize("place", ["metadata", "layers"])
def test_a_network_in_conflict_is_resolved(place: str, side: str, any_checkout: Checkout) -> None:
    of_base(any_checkout, made(network()))
    edits = [[author("a")], [author("b")]] if place == "metadata" else [[layers(2)], [layers(3)]]
    any_checkout.merge([*edits[0], license_of("b")], edits[1])
    assert any_checkout.unmerged
    if side == "text":
        any_checkout.take_in_text(2)
        any_checkout.resolve(any_checkout.text.name, PACKAGE)
    else:
        any_checkout.resolve(side, PACKAGE)
    assert any_checkout.unmerged == ""
    spec, wanted = spec_of(any_checkout.package), network()
    if side != "theirs":
        wanted.description.metadata.license = "b"
    if place == "metadata":
        wanted.description.metadata.author = "a" if side == "ours" else "b"
    else:
        wanted.MergeFromString(b"\xa2\x1f\x02\x08" + bytes([2 if side == "ours" else 3]))
    assert wire_of(spec) == wire_of(wanted)
