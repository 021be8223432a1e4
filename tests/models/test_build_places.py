"""Where a build's errors stand: the place in the text that they are about, and weights that are named as nobody may."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.test_build_text import built, function, original, program, relu, text_model

from miltext.containers.opening import load
from miltext.diagnostics import MiltextError
from miltext.drafting.building import build
from miltext.schema.dtypes import BY_NAME


def shown(text: str, folder: Path, **choices: Any) -> str:
    with pytest.raises(MiltextError) as failure:
        built(text, folder, **choices)
    assert not (folder / "New.mlpackage").exists()
    return str(failure.value)


BLOB = 'tensor<fp16, [1, 4]>(BLOBFILE(path = string("{}"), offset = uint64({})))'


def blob_text(name: str, offset: int = 64) -> str:
    value = BLOB.format(name, offset)
    return program(function("fp32 x", "x", f"            tensor<fp16, [1, 4]> w = const()[val = {value}];"))


CASES = [
    (program(relu("tensor<int64, [2]>")), "tensor<int64, [2]> x", "MIL420", "the input `x` of `main`"),
    (program(relu("fp32"), function("fp32 a, bool b", name='$"a b"')), "bool b", "MIL420", "of `a b`"),
    (program(function("state<tensor<fp16, [?]>> s", "")), "state<tensor<fp16, [?]>> s", "MIL420", "the state `s`"),
    (program(function("fp32 x", "y", "            bf16 y = cast(x = x);")), "y", "MIL420", "the output `y`"),
    (program(function("fp32 x", "x, z")), "z", "MIL422", "the output `z`"),
    (program(relu("fp32", "future")), "<future>", "MIL421", "'future'"),
    (program(relu("fp32", "x").replace("<x>", "")), "main", "MIL421", "''"),
    (blob_text("@model_path/weights/none.bin"), '"@model_path/weights/none.bin"', "MIL302", "`weights=`"),
    (blob_text("@model_path/weights/none.bin"), '"@model_path/weights/none.bin"', "MIL302", "`original=`"),
    (blob_text("@model_path/../none.bin"), '"@model_path/../none.bin"', "MIL301", "leads outside"),
    (blob_text("@model_path/damaged.bin"), '"@model_path/damaged.bin"', "MIL304", "the file is /"),
]


@pytest.mark.parametrize(("text", "marked", "code", "saying"), CASES)
def test_an_error_of_a_build_has_its_place(text: str, marked: str, code: str, saying: str, tmp_path: Path) -> None:
    (tmp_path / "damaged.bin").write_bytes(b"no weights" * 20)
    with pytest.raises(MiltextError) as failure:
        built(text, tmp_path, check=False)
    (found,) = failure.value.diagnostics
    assert found.span is not None
    assert (found.code, text[found.span.start : found.span.end]) == (code, marked)
    assert (failure.value.path, failure.value.text) == (str(tmp_path / "model.mil"), text)
    assert saying in str(failure.value)


def test_a_place_matches_the_edited_text_with_an_original_too(tmp_path: Path) -> None:
    old = original(tmp_path, program(relu("tensor<fp32, [2]>")))
    for text, code in ((program(relu("tensor<int64, [2]>")), "MIL420"), (blob_text("@model_path/none.bin"), "MIL302")):
        said = shown(text, tmp_path, original=old)
        assert re.match(rf".*model\.mil:\d+:\d+: error\[{code}\]", said)
        assert "`weights=`" not in said


@pytest.mark.parametrize("name", ["$npy/../../x", "$npy/fp16/w.npy", "$npy/", "$npy-0/fp16/w.npy"])
@pytest.mark.parametrize("beside", [False, True])
def test_a_blobfile_is_never_taken_for_an_array(name: str, beside: bool, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.arange(4, dtype=np.float16).reshape(1, 4))
    text = blob_text(name, 7 if not beside else 0)
    if beside:
        array = '            tensor<fp16, [1, 4]> v = const()[val = tensor<fp16, [1, 4]>($npy("w.npy"))];\n'
        text = text.replace("            tensor<fp16, [1, 4]> w", f"{array}            tensor<fp16, [1, 4]> w")
    assert "error[MIL301]" in shown(text, tmp_path, check=False)
    assert "error[MIL301]" in shown(text, tmp_path, original=original(tmp_path, program(relu("fp32"))))


@pytest.mark.parametrize("name", ["model.mlmodel", "./model.mlmodel", "MODEL.mlmodel", "model.mlmodel/w.bin"])
def test_a_weight_file_at_the_path_of_the_model(name: str, tmp_path: Path) -> None:
    from miltext.weight_files.blob_storage import BlobWriter

    (tmp_path / name).parent.mkdir(exist_ok=True)
    with BlobWriter(tmp_path / name) as writer:
        writer.add(BY_NAME["fp16"], np.arange(4, dtype=np.float16))
    text = blob_text(f"@model_path/{name}")
    assert "error[MIL301]" in shown(text, tmp_path)
    (tmp_path / "out").mkdir()
    for output in ("model.mlmodel", "other.mlmodel"):
        source = text_model(text, tmp_path)
        if output == "other.mlmodel":
            build(source, tmp_path / "out" / output)
            assert load(tmp_path / "out" / output).weights["w"].tolist() == [[0, 1, 2, 3]]
        else:
            with pytest.raises(MiltextError, match="MIL301"):
                build(source, tmp_path / "out" / output)
            assert [*(tmp_path / "out").iterdir()] == []
