"""What the playground's worker answers, in a Python as it has there: no numpy, and protobuf in pure Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLE, ROOT

from miltext.schema.proto import Model as Spec

ASKED = """
import json, os, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "lark", "click", "tomlkit", "coremltools"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from google.protobuf.internal import api_implementation
assert api_implementation.Type() == "python"
from website.playground.session import answer
answers = {name: json.loads(answer(*asked)) for name, asked in json.load(sys.stdin).items()}
json.dump({"answers": answers, "modules": sorted(sys.modules)}, sys.stdout)
"""
NANS = "a = tensor<fp32, [2]>([$0x7f800001, nan]), b = fp64($0xfff8000000000000), c = fp16($0x7e01)"
NAN = f"program(1.3)\n[{NANS}]\n{{\n}}\n"
NUMBERS = ", ".join(f"0x1.{number:04x}p+0" for number in range(5000))
LARGE = f"""program(1.3)
{{
    func main<ios18>(tensor<fp32, [5000]> x) {{
            tensor<fp32, [5000]> w = const()[name = string("w"), val = tensor<fp32, [5000]>([{NUMBERS}])];
            tensor<int4, [3]> q = const()[name = string("q"), val = tensor<int4, [3]>([7, -8, 1])];
            tensor<fp32, [5000]> y = add(x = x, y = w)[name = string("y")];
        }} -> (y);
}}
"""
ARRAY = 'program(1.3) { func main<ios17>(tensor<fp32, [2]> x) { y = add(x, $npy("w.npy")); } -> (y); }'
WIDE = (
    "// \U0001f600\nprogram(1.3)\n{\n    func main<ios17>(tensor<fp32, [2]> x) {\n        } -> (xx);\n} // \U0001f600\n"
)
EXAMPLES = ROOT / "website" / "playground" / "examples"
QUESTIONS = ("findings", "mended", "inferred", "formatted", "program", "graph")
RULES = """program(1.3)[rules = "1"] {
    func find_a(x)[where = "rank(x) == 2"] { y = relu(relu(x)); } -> (y);
    func replace_a(x) { y = rellu(x); } -> (y);
}
"""
TEXTS = {"empty": "", "nan": NAN, "large": LARGE, "array": ARRAY, "wide": WIDE, "broken": "program(1.3)\n{ func"}
TEXTS["rules"] = RULES


def files(folder: Path) -> Path:
    """A folder of what may be dropped together: a model, a text that is none, a zip that is damaged, and a picture."""
    folder.mkdir()
    spec = Spec(specificationVersion=8)
    spec.mlProgram.version = 1
    floats = spec.mlProgram.attributes["a"]
    floats.type.tensorType.dataType = 11
    floats.immediateValue.tensor.floats.values.append(1.0)
    data = spec.SerializeToString().replace(bytes.fromhex("0000803f"), bytes.fromhex("010080ff"))
    (folder / "nan.mlmodel").write_bytes(data)
    (folder / "cut.zip").write_bytes(b"PK\3\4 cut")
    (folder / "a.png").write_bytes(b"\x89PNG")
    (folder / "a.mil").write_bytes(b"\xff")
    return folder


def zips(folder: Path) -> Path:
    """A folder of zips that cannot be unpacked, each for a reason of its own, and of one that can."""
    folder.mkdir()
    names = {"clash": ("a", "a/b.mil"), "good": ("a.mil",), "long": ("x" * 300 + ".mil",), "secret": ("a.mil",)}
    for zipped, inside in names.items():
        with zipfile.ZipFile(folder / f"{zipped}.zip", "w") as archive:
            for name in inside:
                archive.writestr(name, "program(1.3)\n{\n}\n")
    secret = bytearray((folder / "secret.zip").read_bytes())
    for start, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        secret[secret.index(start) + flags] |= 1
    (folder / "secret.zip").write_bytes(secret)
    return folder


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    top = tmp_path_factory.mktemp("dropped")
    asked = {f"{question} {name}": (question, text) for name, text in TEXTS.items() for question in QUESTIONS}
    package = top / "package"
    shutil.copytree(EXAMPLE, package / EXAMPLE.name, ignore=shutil.ignore_patterns("*.bin"))
    asked |= {"opened files": ("opened", str(files(top / "files"))), "opened package": ("opened", str(package))}
    asked["opened zips"] = ("opened", str(zips(top / "zips")))
    asked["opened nothing"] = ("opened", str(top.joinpath("nothing")))
    (top / "nothing").mkdir()
    environment = {
        **os.environ,
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
    }
    done = subprocess.run(
        [sys.executable, "-c", ASKED],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def answers(told: Mapping[str, Any]) -> Mapping[str, Any]:
    return told["answers"]  # type: ignore[no-any-return]


def test_no_numpy_is_imported(told: Mapping[str, Any]) -> None:
    assert "miltext.checking.verifier" in told["modules"]
    assert [name for name in told["modules"] if name.partition(".")[0] in ("numpy", "lark", "click", "tomlkit")] == []


def test_a_rule_file_is_checked_as_one(answers: Mapping[str, Any]) -> None:
    [found] = answers["findings rules"]["findings"]
    assert "there is no operation `rellu`" in json.dumps(found)


def test_large_and_narrow_literals_need_no_numpy(answers: Mapping[str, Any]) -> None:
    assert answers["findings large"]["total"] == 0
    assert answers["inferred large"]["text"] == answers["formatted large"]["text"] == LARGE
    assert "values: 1" in answers["program large"]["text"]


def test_lost_nans_are_counted_and_texts_keep_them(answers: Mapping[str, Any]) -> None:
    (note,) = answers["program nan"]["notes"]
    assert note.startswith("2 NaNs have a sign or a payload")
    assert answers["formatted nan"]["text"] == answers["inferred nan"]["text"] == NAN
    assert answers["program large"]["notes"] == []


def test_arrays_in_files_are_reported_to_be_out_of_reach(answers: Mapping[str, Any]) -> None:
    assert "the playground has none" in answers["findings array"]["notes"][0]
    assert answers["inferred array"]["findings"][0]["code"] == "MIL111"


def test_places_count_units_of_utf_16(answers: Mapping[str, Any]) -> None:
    (found,) = answers["findings wide"]["findings"]
    start, end = found["start"], found["end"]
    assert WIDE.encode("utf-16-le")[2 * start["unit"] : 2 * end["unit"]].decode("utf-16-le") == "xx"
    assert start["unit"] == start["offset"] + 1


def test_a_broken_text_is_named_by_every_question(answers: Mapping[str, Any]) -> None:
    for question in QUESTIONS:
        said = answers[f"{question} broken"]
        assert said.get("findings") or question == "mended", question


def test_files_that_are_dropped_together_are_distinguished(answers: Mapping[str, Any]) -> None:
    opened = answers["opened files"]
    assert [each["name"] for each in opened["texts"]] == ["nan.mlmodel"]
    assert "nan" in opened["texts"][0]["text"]
    assert [note.partition(":")[0] for note in opened["notes"]] == ["a.mil", "a.png", "cut.zip", "nan.mlmodel"]
    assert "of 1 of them" in opened["notes"][3]
    assert "not a whole zip" in opened["notes"][2]


def test_a_zip_that_cannot_be_unpacked_gives_a_reason(answers: Mapping[str, Any]) -> None:
    opened = answers["opened zips"]
    assert [each["name"] for each in opened["texts"]] == ["good.zip/a.mil"]
    clash, long, secret = opened["notes"]
    assert clash.startswith("clash.zip: this zip has a file and a folder of one name")
    assert long == "long.zip: this zip has a name of more than 255 bytes: rename what has it"
    assert secret == "secret.zip: this zip is encrypted: unpack it, and drop what was in it"
    assert "/" not in clash + long


def test_a_package_needs_no_weights(answers: Mapping[str, Any]) -> None:
    ((text),) = answers["opened package"]["texts"]
    assert text["name"] == EXAMPLE.name
    assert text["text"].startswith("program(1.3)")


def test_the_page_leads_to_sections_that_are_there() -> None:
    page = (ROOT / "website" / "playground" / "page" / "index.html").read_text(encoding="utf-8")
    places = re.findall(r'href="\{site\}([\w-]+)/#([\w-]+)"', page)
    assert places
    for name, anchor in places:
        headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in [heading.lower().replace(" ", "-") for heading in headings]


def test_each_example_is_as_its_title_states() -> None:
    from miltext import check

    texts = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.mil"))]
    counts = [sum(found.severity == "error" for found in check(text)) for text in texts]
    assert texts[0].startswith("// Five mistakes: ")
    assert counts == [5, *[0] * (len(texts) - 1)]


@pytest.mark.parametrize("name", ["work", "files", "link"])
def test_a_script_of_the_page_by_itself(name: str) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    script = Path(__file__).with_name(f"playground_{name}.mjs")
    tried = ROOT / "website" / "playground" / "page" / f"{name}.js"
    done = subprocess.run(["node", script, tried.as_uri()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_folder_without_a_model_is_reported(answers: Mapping[str, Any]) -> None:
    assert answers["opened nothing"]["texts"] == []
    assert "nothing but weights" in answers["opened nothing"]["notes"][0]
