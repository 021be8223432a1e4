"""Entries of descriptions, models in memory that have them, and what a build makes of those."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import miltext
from miltext.building.build import prepare
from miltext.building.choices import BuildChoices
from miltext.containers.programs import TextModel
from miltext.containers.spec import SpecModel
from miltext.descriptions.program_descriptions import describe
from miltext.schema.features import ELEMENTS
from miltext.schema.proto import FeatureDescription, ImageFeatureType, Model

COLORS = {
    "RGB": ImageFeatureType.RGB,
    "BGR": ImageFeatureType.BGR,
    "GRAY": ImageFeatureType.GRAYSCALE,
    "GRAY16": ImageFeatureType.GRAYSCALE_FLOAT16,
    "": ImageFeatureType.INVALID_COLOR_SPACE,
}
Range = tuple[int, int]


def array(dtype: str, *shape: int, ranges: list[Range] | None = None, shapes: Any = (), **default: Any) -> Any:
    made = FeatureDescription(name="x", shortDescription="what x is")
    made.type.multiArrayType.dataType = ELEMENTS[dtype]
    made.type.multiArrayType.shape.extend(shape)
    for least, greatest in ranges or ():
        made.type.multiArrayType.shapeRange.sizeRanges.add(lowerBound=least, upperBound=greatest)
    for each in shapes:
        made.type.multiArrayType.enumeratedShapes.shapes.add(shape=each)
    for kind, number in default.items():
        setattr(made.type.multiArrayType, f"{kind}DefaultValue", number)
        made.type.isOptional = True
    return made


def image(colors: str, height: int, width: int, ranges: Any = (), sizes: Any = ()) -> Any:
    """An image; `ranges` are of the height and the width, `sizes` pairs of them."""
    made = FeatureDescription(name="x", shortDescription="what x is")
    made.type.imageType.height, made.type.imageType.width = height, width
    made.type.imageType.colorSpace = COLORS[colors]
    for side, (least, greatest) in zip(("heightRange", "widthRange"), ranges, strict=False):
        limits = getattr(made.type.imageType.imageSizeRange, side)
        limits.lowerBound, limits.upperBound = least, greatest
    for each in sizes:
        made.type.imageType.enumeratedSizes.sizes.add(height=each[0], width=each[1])
    return made


def text(kind: str, name: str = "x", output: str = "y") -> str:
    kind = kind if "<" in kind or "[" not in kind else f"tensor<{kind.partition(' ')[0]}, {kind.partition(' ')[2]}>"
    body = f"            {kind} {output} = relu(x = {name});"
    return f"program(1.3)\n{{\n    func main<ios18>({kind} {name}) {{\n{body}\n        }} -> ({output});\n}}\n"


def model(source: str, *inputs: FeatureDescription, outputs: Any = ()) -> SpecModel:
    """A model in memory of this program, whose description has these entries in the place of those of their names."""
    program = miltext.parse(source)
    spec = Model(specificationVersion=9, description=describe(program, None), mlProgram=program)
    for entry in (*inputs, *outputs):
        for each in (*spec.description.input, *spec.description.output):
            if each.name == entry.name:
                each.CopyFrom(entry)
    return SpecModel("mlmodel", "old", None, None, spec)


class Built(NamedTuple):
    spec: Model
    changes: list[str]
    warnings: list[str]

    @property
    def input(self) -> FeatureDescription:
        return self.spec.description.input[0]


def built(source: str, original: SpecModel | None, **choices: Any) -> Built:
    made = prepare(
        TextModel(source.encode(), "m.mil", None), Path("New.mlpackage"), BuildChoices(original=original, **choices)
    )
    return Built(made.spec, list(map(str, made.changes)), [f"{each.code} {each.message}" for each in made.warnings])


def named(entry: FeatureDescription, name: str) -> FeatureDescription:
    """The entry, called so."""
    entry.name = name
    return entry
