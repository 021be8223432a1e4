"""A model whose only function is not called `main`: Core ML finds it by the description's list, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.pipeline_edits import replaced
from support.pipelines import piped, write_compiled

import miltext
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.drafting.building import build
from miltext.schema.proto import Model

TEXT = """program(1.3)
{
    func NAME<OPSET>(tensor<fp32, [1, 4]> IN) {
            tensor<fp32, [1, 4]> OUT = relu(x = IN)[name = string("OUT")];
        } -> (OUT);
}
"""


def text(name: str, opset: str, given: str = "x", made: str = "y") -> TextModel:
    words = {"NAME": name, "OPSET": opset, "IN": given, "OUT": made}
    return TextModel(replaced(TEXT, words).encode(), "m.mil", None)


class Building:
    """Builds, with the warnings and changes that they tell."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0
        self.warnings: list[str] = []
        self.changes: list[str] = []

    def __call__(self, source: Any, original: Any = None, **choices: Any) -> Model:
        self.count += 1
        out = self.folder / f"{self.count}.mlmodel"
        changes: list[Any] = []
        found = build(source, out, original=original, on_change=changes.append, **choices)
        self.warnings, self.changes = [f"{each.code}: {each.message}" for each in found], [*map(str, changes)]
        made = open_model(out)
        assert made.spec is not None
        return made.spec

    @property
    def last(self) -> Any:
        return open_model(self.folder / f"{self.count}.mlmodel")


@pytest.fixture
def building(tmp_path: Path) -> Building:
    return Building(tmp_path)


def listed(spec: Model) -> tuple[list[str], str, int]:
    description = spec.description
    return [each.name for each in description.functions], description.defaultFunctionName, len(description.input)


def test_main_needs_no_list(building: Building) -> None:
    for opset in ("ios16", "ios18"):
        assert listed(building(text("main", opset))) == ([], "", 1)
        assert building.warnings == []


def test_one_of_another_name_is_listed(building: Building) -> None:
    assert listed(building(text("other", "ios18"))) == (["other"], "other", 0)
    assert building.warnings == []
    original = building.folder / "old.mlmodel"
    build(text("main", "ios18"), original)
    made = building(text("other", "ios18"), open_model(original))
    assert listed(made) == (["other"], "other", 0)
    assert made.specificationVersion == 9
    assert [entry.name for entry in made.description.functions[0].input] == ["x"]
    assert building.changes == ["= function main -> other", '+ defaultFunctionName: "other"']
    again = building(text("third", "ios18"), building.last)
    assert listed(again) == (["third"], "third", 0)
    assert building.changes[0] == "= function other -> third"
    assert building.warnings == []


def test_another_name_needs_a_list_of_functions(building: Building) -> None:
    with pytest.raises(miltext.ParseError, match=r"MIL265.*no function `main`, but `other`"):
        building(text("other", "ios17"))
    assert listed(building(text("other", "ios17"), check=False)) == ([], "", 1)
    building(building.last)
    assert [each.partition(":")[0] for each in building.warnings] == ["MIL265"]
    original = building.folder / "old.mlmodel"
    build(text("main", "ios17"), original)
    with pytest.raises(miltext.ParseError, match="MIL265"):
        building(text("other", "ios17"), open_model(original))
    building(text("other", "ios17"), open_model(original), check=False)
    assert building.warnings == []


def test_another_name_beside_an_odd_original_is_a_warning(building: Building) -> None:
    building(text("other", "ios17"), check=False)
    odd = building.last
    building(text("third", "ios17"), odd)
    assert [each[:6] for each in building.warnings] == ["MIL265", "MIL426"]
    assert "the only function is `third`, which was `other`, and Core ML runs `main`" in building.warnings[1]
    building(text("other", "ios17"), odd)
    assert [each[:6] for each in building.warnings] == ["MIL265"]


def test_a_function_that_had_the_name_before_keeps_it(building: Building) -> None:
    old = building(text("other", "ios17"), check=False)
    building(TextModel(miltext.to_text(old.mlProgram).replace("relu", "tanh").encode(), "m.mil", None), building.last)
    assert all("the original has this error, too" in each for each in building.warnings)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_model_of_a_pipeline(building: Building, is_compiled: bool) -> None:
    first, second = building(text("main", "ios17")), building(text("main", "ios18", "y", "z"))
    whole = piped(first, second, names=("one", "two"))
    path = building.folder / "P.mlmodel"
    path.write_bytes(whole.SerializeToString())
    original = open_model(write_compiled(building.folder / "P.mlmodelc", whole) if is_compiled else path)
    with pytest.raises(miltext.ParseError, match="MIL265"):
        building(text("other", "ios17"), original, model=0)
    made = building(text("other", "ios18", "y", "z"), original, model=1)
    assert building.warnings == []
    assert listed(made.pipeline.models[1]) == (["other"], "other", 0)
    assert building.changes[0] == "= model 1: function main -> other"
