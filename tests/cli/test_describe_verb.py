"""`miltext describe`, and `miltext build --description`: what they read, write, and leave alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from conftest import EXAMPLE
from support.containers import TEXT, pipeline, spec, suppression, write, write_pipeline_bundle
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model
from miltext.schema.wire import wire_of


def called(*arguments: object, input: bytes | None = None) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)], input=input)


def done(*arguments: object, input: bytes | None = None, told: str = "") -> str:
    result = called(*arguments, input=input)
    assert (result.exit_code, result.stderr) == (0, told), result.stderr
    return result.stdout


def refused(status: int, *arguments: object) -> str:
    result = called(*arguments)
    assert (result.exit_code, result.stdout) == (status, ""), result
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_description_and_its_statements() -> None:
    text = done("describe", EXAMPLE)
    assert text == miltext.describe(EXAMPLE) == open_model(EXAMPLE).description_text
    assert 'predictedFeatureName = "classLabel"\n' in text
    assert "\nclassLabels = [" in text


def test_a_package_described_and_built_again_is_the_same(folder: Path) -> None:
    done("describe", EXAMPLE, "-o", "model.toml")
    done("build", EXAMPLE, "--description", "model.toml", "-o", "N.mlpackage")
    before, after = open_model(EXAMPLE).spec, open_model("N.mlpackage").spec
    assert before
    assert after
    assert wire_of(after) == wire_of(before)


def test_a_whole_model_is_made_of_text_alone(folder: Path) -> None:
    done("print", EXAMPLE, "-o", "model.mil")
    done("describe", EXAMPLE, "-o", "model.toml")
    shutil.copytree(EXAMPLE / "Data/com.apple.CoreML/weights", "DIR/weights")
    done("build", "model.mil", "--description", "model.toml", "--weights", "DIR", "-o", "N.mlpackage")
    before, after = open_model(EXAMPLE).spec, open_model("N.mlpackage").spec
    assert before
    assert after
    assert wire_of(after) == wire_of(before)


def test_another_description_takes_the_place_of_the_originals(folder: Path) -> None:
    done("print", EXAMPLE, "-o", "model.mil")
    text = miltext.describe(EXAMPLE)
    assert 'type = "multiArray"\ndataType = "fp32"\nshape = [1, 1, 16, 16]\n' in text
    image = 'type = "image"\ncolorSpace = "GRAYSCALE"\nwidth = 16\nheight = 16\n'
    text = text.replace('type = "multiArray"\ndataType = "fp32"\nshape = [1, 1, 16, 16]\n', image)
    Path("model.toml").write_text(text.replace('"com.github', '"a.b"="c"\n"com.github', 1), encoding="utf-8")
    told = "~ input image: fp32 [1, 1, 16, 16] -> image GRAYSCALE, width 16, height 16\n"
    told += '+ metadata.userDefined[a.b]: "c"\n'
    for source in (("model.mil", "--from", EXAMPLE), (EXAMPLE,)):
        done("build", *source, "--description", "model.toml", "-o", "N.mlpackage", "--force", told=told)
        made = done("describe", "N.mlpackage")
        assert image in made
        assert '"a.b" = "c"\n' in made


SOURCES = {"m.mil": TEXT, "draft.mil": TEXT.replace("tensor<fp16, [1, 4]> y = ", "y = ")}


@pytest.mark.parametrize("name", SOURCES)
def test_a_program_by_itself_is_described_by_its_types(name: str, folder: Path) -> None:
    write(folder / name, SOURCES[name].encode())
    text = done("describe", name)
    assert text == done("describe", "-", input=SOURCES[name].encode())
    assert 'specificationVersion = 9\n\n[[input]]\nname = "x"\ntype = "multiArray"\ndataType = "fp16"' in text
    assert '[[output]]\nname = "y"' in text
    Path("d.toml").write_text(text, encoding="utf-8")
    done("build", name, "-o", "plain.mlpackage")
    done("build", name, "--description", "d.toml", "-o", "said.mlpackage")
    plain, said = open_model("plain.mlpackage").spec, open_model("said.mlpackage").spec
    assert plain
    assert said
    assert wire_of(plain) == wire_of(said)


def test_an_error_of_a_draft_is_reported_in_the_draft(folder: Path) -> None:
    write(folder / "draft.mil", SOURCES["draft.mil"].replace("relu(x = x)", "relu(x = z)").encode())
    assert "draft.mil:4:" in refused(1, "describe", "draft.mil")


def test_a_pipeline_and_its_stages(folder: Path) -> None:
    whole = pipeline(spec("one"), suppression(), names=("net", ""))
    whole.description.input.add(name="image")
    write(folder / "P.mlmodel", wire_of(whole))
    text = done("describe", "P.mlmodel")
    assert '[[model]]\nname = "net"\nkind = "mlProgram"\nspecificationVersion = 9\n' in text
    assert '[[model]]\nkind = "nonMaximumSuppression"\nspecificationVersion = 5\n' in text
    write(folder / "d.toml", text.replace('"net"', '"first"').replace('"boxes"', '"found"').encode())
    told = [
        "P.mlmodel: warning[MIL503]: `relu` lacks `x`, which it requires; the original has this error, too",
        'P.mlmodel: note: at P.mlmodel, model 0 "net":4:24, as `miltext check` shows',
        'P.mlmodel: warning[MIL457]: no model outputs `x`, which model 0 "first" takes; the original has this error, too',  # noqa: E501
        '~ model 0: name: "net" -> "first"',
        "- model 1: output boxes: nothing",
        "+ model 1: output found: nothing",
        "",
    ]
    built = called("build", "P.mlmodel", "--description", "d.toml", "-o", "N.mlmodel")
    assert built.exit_code == 0
    assert [line for line in built.stderr.split("\n") if line in told] == told
    made = open_model("N.mlmodel").spec
    assert made
    assert [*made.pipeline.names] == ["first"]
    whole.pipeline.names[:] = ["first"]
    whole.pipeline.models[1].description.output[0].name = "found"
    assert wire_of(made) == wire_of(whole)


def test_a_pipeline_of_other_stages_is_refused(folder: Path) -> None:
    write(folder / "P.mlmodel", wire_of(pipeline(spec("one"), suppression())))
    text = done("describe", "P.mlmodel")
    write(folder / "d.toml", text.replace('kind = "mlProgram"', 'kind = "neuralNetwork"').encode())
    said = refused(1, "build", "P.mlmodel", "--description", "d.toml", "-o", "N.mlmodel")
    assert 'this model is of the kind "mlProgram", not "neuralNetwork"' in said
    write(folder / "d.toml", text.partition('[[model]]\nkind = "non')[0].encode())
    said = refused(1, "build", "P.mlmodel", "--description", "d.toml", "-o", "N.mlmodel")
    assert "d.toml:6:3: error[MIL476]: the model has 2 stages, and the description 1 `[[model]]`" in said
    assert not Path("N.mlmodel").exists()


def test_a_compiled_pipeline_whose_files_state_little(folder: Path) -> None:
    text = done("describe", write_pipeline_bundle(folder / "C.mlmodelc"))
    assert text.count("[[model]]") == 3
    assert '[[model]]\nname = "prepare"\nkind = "neuralNetwork"\n' in text


def test_tomlkit_is_imported_only_to_read(folder: Path) -> None:
    lines = [
        "import miltext, sys",
        f"model = miltext.load({str(EXAMPLE)!r})",
        "miltext.describe(model), miltext.build(model, 'N.mlpackage')",
        "print('tomlkit' in sys.modules)",
    ]
    assert subprocess.check_output([sys.executable, "-c", "\n".join(lines)], text=True) == "False\n"


# ---- a file that is there


def test_a_description_is_updated_and_keeps_its_comments(folder: Path) -> None:
    done("describe", EXAMPLE, "-o", "model.toml")
    text = Path("model.toml").read_text(encoding="utf-8")
    commented = text.replace("[[input]]", "# the drawing\n[[input]] # only one").replace(
        "shape = [1, 1,", "shape = [1,1,"
    )
    commented = commented.replace("untrained", "not yet trained").replace('"classLabel"\n', '"classLabel" # a shape\n')
    write(folder / "model.toml", commented.encode())
    done("describe", EXAMPLE, "-o", "model.toml")
    assert Path("model.toml").read_text(encoding="utf-8") == commented.replace("not yet trained", "untrained")


def test_a_description_that_states_all_is_not_written(folder: Path) -> None:
    done("describe", EXAMPLE, "-o", "model.toml")
    os.utime("model.toml", (1, 1))
    done("describe", EXAMPLE, "-o", "model.toml")
    assert os.stat("model.toml").st_mtime == 1


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_filled(text: str, folder: Path) -> None:
    write(folder / "model.toml", text.encode())
    done("describe", EXAMPLE, "-o", "model.toml")
    assert Path("model.toml").read_text(encoding="utf-8") == miltext.describe(EXAMPLE)


KEPT = {
    "pyproject.toml": (b"[project]\nname = 'x'\n", 2, "MIL402]: the target is not a description, and is not replaced"),
    "broken.toml": (b"[[input]\n", 1, "broken.toml:1:9: error[MIL470]: this is not TOML"),
    "wrong.toml": (b"[[input]]\nnaem = 'x'\n", 1, "wrong.toml:2:1: error[MIL471]"),
    "bytes.toml": (b"\xff\xfe", 1, "bytes.toml: error[MIL470]: this is not UTF-8 text"),
    "model.mil": (TEXT.encode(), 2, "model.mil: error[MIL401]: this name does not fit a description"),
    "notes": (b"some notes\n", 1, "notes:1:11: error[MIL470]"),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_file_that_is_something_else_is_kept(name: str, folder: Path) -> None:
    data, status, saying = KEPT[name]
    write(folder / name, data)
    assert saying in refused(status, "describe", EXAMPLE, "-o", name)
    assert Path(name).read_bytes() == data


def test_other_lines_ends_are_kept(folder: Path) -> None:
    text = miltext.describe(EXAMPLE).replace("untrained", "trained").replace("\n", "\r\n").encode()
    write(folder / "model.toml", text)
    done("describe", EXAMPLE, "-o", "model.toml")
    assert Path("model.toml").read_bytes() == text.replace(b"trained", b"untrained")


def test_a_folder_is_not_written(folder: Path) -> None:
    Path("model.toml").mkdir()
    assert "model.toml" in refused(2, "describe", EXAMPLE, "-o", "model.toml")


# ---- descriptions that cannot be read


def test_a_mistake_shows_its_line(folder: Path) -> None:
    write(folder / "d.toml", miltext.describe(EXAMPLE).replace("fp32", "fp31").encode())
    said = refused(1, "build", EXAMPLE, "--description", "d.toml", "-o", "N.mlpackage")
    assert 'd.toml:20:12: error[MIL473]: `dataType` cannot be "fp31"; did you mean `fp32`?' in said
    assert ' 20 | dataType = "fp31"\n    |            ^~~~~~\n' in said
    assert not Path("N.mlpackage").exists()


UNREADABLE = {
    "missing.toml": ("MIL250", 2),
    "folder": ("MIL250", 2),
    "": ("MIL250", 2),
    "pointer.toml": ("MIL252", 1),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read(name: str, folder: Path) -> None:
    code, status = UNREADABLE[name]
    Path("folder").mkdir()
    write(folder / "pointer.toml", b"version https://git-lfs.github.com/spec/v1\n")
    said = refused(status, "build", EXAMPLE, "--description", name, "-o", "N.mlpackage")
    assert code in said


@pytest.mark.parametrize("verb", ["describe", "build"])
def test_the_help_has_examples(verb: str) -> None:
    assert "--description model.toml" in done(verb, "--help")
