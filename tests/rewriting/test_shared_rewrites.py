"""Rewrites that people make by hand, as data beside the corpus: the packaged rules make them, and leave the traps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from conftest import CORPUS

import miltext
from miltext.drafting.programs import program_of
from miltext.ir.graph import Graph
from miltext.rewriting.verifying import new_errors
from miltext.schema.proto import Model, Program
from miltext.weight_files.blob_storage import BlobFile, BlobWriter

FOLDER = CORPUS.parent / "rewrites"

RULES = {
    "cast-pair": "casts",
    "equal-weights": "equal-weights",
    "linear-to-conv": "linear-to-conv",
    "pad-to-conv": "pad-to-conv",
    "rmsnorm-as-layer-norm": "rmsnorm",
    "scale-into-conv": "scale-into-conv",
    "softmax": "softmax",
    "softplus": "softplus",
    "split-heads": "split-heads",
}
"""The packaged rules and passes by the folders of the rewrites."""

STORED = "equal-weights/before-2"
"""The pair whose weights are in files: its functions must share a record of the weight file."""

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no rewrites beside the corpus, {FOLDER}")


def texts(kind: str) -> list[str]:
    return sorted(f"{name}/{path.stem}" for name in RULES for path in (FOLDER / name).glob(f"{kind}-*.mil"))


def program(name: str) -> Program:
    made = program_of(str(FOLDER / f"{name}.mil"))
    assert isinstance(made, Program)
    return made


def operations(of: Program) -> Counter[str]:
    """Count the operations by kind, constants aside."""
    return Counter(op.type for op in Graph(of).walk() if not op.is_constant)


def outputs(of: Program) -> list[list[str]]:
    return [
        [value.name for value in block.outputs] for f in Graph(of).functions.values() for block in f.blocks.values()
    ]


@pytest.mark.parametrize("name", [each for each in texts("before") if each != STORED])
def test_a_pair_is_made_and_proven(name: str) -> None:
    before, after = program(name), program(name.replace("before", "after"))
    made = miltext.rewrite(before, RULES[Path(name).parent.name], verify=True)
    assert operations(made.program) == operations(after)
    assert outputs(made.program) == outputs(before)
    assert new_errors(before, made.program) == []
    assert made.verified
    again = miltext.rewrite(made.program, RULES[Path(name).parent.name])
    assert again.replaced == []


@pytest.mark.parametrize("name", texts("keep"))
def test_a_near_miss_stays(name: str) -> None:
    kept = program(name)
    made = miltext.rewrite(kept, RULES[Path(name).parent.name])
    assert made.replaced == []
    assert made.program == kept


def test_a_weight_that_two_layers_share_stays_one() -> None:
    made = miltext.rewrite(program("linear-to-conv/before-2"), "linear-to-conv")
    convolutions = [op for op in Graph(made.program).walk() if op.type == "conv"]
    assert len(convolutions) == 2
    assert len({op.operand("weight") for op in convolutions}) == 1
    weights = [op for op in Graph(made.program).walk() if op.type == "const" and len(op.outputs[0].type.shape) > 1]  # type: ignore[union-attr]
    assert len(weights) == 1


def test_all_packaged_rules_leave_the_weights_of_others() -> None:
    rules = [*RULES.values(), "identities", "layout"]
    for name in ("equal-weights/keep-1", "equal-weights/keep-2", "equal-weights/keep-3", "split-heads/keep-1"):
        assert miltext.rewrite(program(name), rules).replaced == []


def records(of: Program) -> list[int]:
    """The offsets of the constants in the weight file, in the order of the text."""
    values = [op.attributes["val"] for op in Graph(of).walk() if op.type == "const"]
    return [value.blobFileValue.offset for value in values if value.WhichOneof("value") == "blobFileValue"]


def test_functions_share_a_record_of_the_weight_file(tmp_path: Path) -> None:
    """A build stores equal arrays once, so the record of the second function is copied, as other tools write it."""
    package = tmp_path / "M.mlpackage"
    miltext.build(FOLDER / f"{STORED}.mil", package)
    data = package / "Data" / "com.apple.CoreML"
    spec = Model.FromString((data / "model.mlmodel").read_bytes())
    with BlobWriter(data / "weights" / "weight.bin", after=BlobFile(data / "weights" / "weight.bin")) as file:
        [second] = [
            op.attributes["val"].blobFileValue
            for op in spec.mlProgram.functions["prefill"].block_specializations["CoreML8"].operations
            if op.outputs[0].name == "w"
        ]
        with BlobFile(data / "weights" / "weight.bin") as old:
            second.offset = file.copy(old.blob(second.offset))
    (data / "model.mlmodel").write_bytes(spec.SerializeToString())
    before = miltext.load(package).program
    assert len({*records(before)}) == 3
    made = miltext.rewrite(package, "equal-weights", tmp_path / "New.mlpackage")
    assert [(each.function, each.value) for each in made.replaced] == [("prefill", "w")]
    assert made.went == {"equal-weights": 32}
    after = miltext.load(tmp_path / "New.mlpackage").program
    miltext.build(FOLDER / f"{STORED.replace('before', 'after')}.mil", tmp_path / "After.mlpackage")
    assert operations(after) == operations(miltext.load(tmp_path / "After.mlpackage").program)
    first, shared, other = records(after)
    assert first == shared != other
    for function, places in {"infer": 1, "prefill": 6}.items():
        given = {"x": np.linspace(-2, 2, 4 * places, dtype=np.float16).reshape(places, 4)}
        models = (package, tmp_path / "New.mlpackage")
        one, two = (miltext.run(each, given, function=function)["y"] for each in models)
        assert one.tobytes() == two.tobytes()
