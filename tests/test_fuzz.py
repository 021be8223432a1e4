"""The fuzzing: every target holds for a moment, and what breaks a law is found, made small, kept, and never again."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from conftest import GOLDEN, ROOT

sys.path.insert(0, str(ROOT))

from support.strategies import OLD

import miltext
from fuzz import adopting, engines, files, findings, jobs, messages, texts, trials
from fuzz.__main__ import main
from fuzz.minimizing import joined, minimized
from fuzz.targets import TARGETS
from miltext.schema.proto import Program

INPUTS = {"parse": 120, "print": 25, "format": 12, "check": 12, "verify": 25, "load": 25, "weights": 25, "build": 3}
"""How many inputs of a target are tried; of others 40. The seconds that each takes are about the same."""


@cache
def seeds(name: str) -> list[bytes]:
    return list(TARGETS[name].seeds())


@pytest.mark.parametrize("name", TARGETS)
def test_the_law_of_a_target_holds_for_a_moment(name: str) -> None:
    if OLD and TARGETS[name].suffix in (".pb", ".mlmodel"):
        pytest.skip("this protobuf crashes on damaged bytes, or reads strings that are no UTF-8")
    target, random, pool = TARGETS[name], Random(20), seeds(name)
    count = INPUTS.get(name, 40)
    inputs = random.sample(pool, min(len(pool), count // 3 + 1))
    inputs += [target.changed(random, random.choice(pool), pool) for _ in range(count - count // 3)]
    with target.opened() as law:
        for data in inputs:
            failure = trials.tried(law, data)
            assert failure is None, (data, failure.story)


@pytest.mark.parametrize("path", adopting.adopted(), ids=lambda path: path.name)
def test_earlier_findings_stay_fixed(path: Path) -> None:
    with TARGETS[findings.target_of(path)].opened() as law:
        law(path.read_bytes())
    assert re.fullmatch(r"[A-Z`].+\.\n", path.with_suffix(".txt").read_text())


@pytest.mark.parametrize("name", TARGETS)
def test_changes_are_many_and_the_same_for_a_seed(name: str) -> None:
    pool = seeds(name)
    made = [[TARGETS[name].changed(random, pool[0], pool) for _ in range(20)] for random in (Random(1), Random(1))]
    assert made[0] == made[1]
    assert len({*made[0]}) > 10


# ---- changes


def test_words_match_the_tables() -> None:
    assert {"func", "$absent", "fp16", "ios18", "CoreML8", "scaled_dot_product_attention", "pad_type"} <= {
        *texts.words()
    }


@pytest.mark.parametrize("data", [b"", b"\xff", "é\ud800".encode(errors="surrogatepass"), b"program(1.3) {}"])
def test_any_bytes_survive_the_way_through_a_text(data: bytes) -> None:
    assert texts.encoded(texts.decoded(data)) == data
    for seed in range(60):
        assert isinstance(texts.changed(Random(seed), data, [data]), bytes)


def test_phrases_replace_phrases_of_their_kind() -> None:
    here = b"program(1.3) { func f<ios18>(fp16 x) { fp16 y = relu(x = x); } -> (y); }"
    there = b"program(1.3) { func g<ios17>(int32 n) { int32 m = add(x = n, y = n); } -> (m); }"
    made = {texts._grafted(Random(seed), here.decode(), [there]) for seed in range(60)}
    assert sum(miltext.parsing.parser.attempt(text) is not None for text in made) == len(made) > 8


@pytest.mark.parametrize("data", [b"", b"\xff\xff", b"\x08\x01"])
def test_any_bytes_are_changed_as_a_message(data: bytes) -> None:
    for seed in range(60):
        assert isinstance(messages.changed(Program, Random(seed), data, [data]), bytes)


def test_fields_are_kept_by_their_places() -> None:
    whole = miltext.parse((GOLDEN / "print" / "literals.mil").read_text())
    places = list(messages.sites(whole))
    for kept in ({*places}, set[messages.Site](), {place for place in places if len(place) < 8}):
        part = Program()
        part.CopyFrom(whole)
        messages.keep(part, kept)
        assert {*messages.sites(part)} <= {*places}
        assert len([*messages.sites(part)]) == len(kept)


def test_a_file_is_read_by_a_verb_of_its_kind() -> None:
    assert files.parted(files.joined("npy", "check npy.mil", b"a\nb")) == ("npy", "check npy.mil", b"a\nb")
    for wrong in (b"", b"npy", b"npy: rm -r\n", b"elsewhere: check npy.mil\n", b"\xff: \n"):
        assert files.parted(wrong) is None


# ---- findings

NOTHING = trials.Count()


def planted(data: bytes) -> None:
    """A law that a text with two words breaks."""
    assert not (b"relu" in data and b"fp16" in data)


def slow(data: bytes) -> None:
    while True:
        pass


def hungry(data: bytes) -> None:
    raise MemoryError


@pytest.mark.parametrize(("law", "said"), [(planted, "AssertionError in planted"), (hungry, "MemoryError")])
def test_an_input_that_breaks_a_law_is_named_by_its_place(law: Callable[[bytes], None], said: str) -> None:
    failure = trials.tried(law, b"fp16 relu")
    assert failure is not None
    assert failure.place.startswith(said)
    assert "Traceback" in failure.story
    assert trials.tried(planted, b"relu") is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no alarm")
def test_an_input_that_takes_too_long_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "SECONDS", 0.05)
    failure = trials.tried(slow, b"")
    assert failure is not None
    assert failure.place.startswith("TooSlow")


def test_findings_of_one_place_are_one_the_shortest(tmp_path: Path) -> None:
    trial = trials.Trials("parse", ".mil", planted, tmp_path, 0)
    for data in (b"relu", b"a relu fp16", b"relu fp16", b"relu fp16 b"):
        trial(data)
    (name,) = trial.count.new
    assert trial.count == trials.Count(4, 3, (name,))
    assert (tmp_path / name).read_bytes() == b"relu fp16"
    assert "planted" in (tmp_path / f"{name}.txt").read_text()
    assert findings.target_of(tmp_path / name) == "parse"


def test_a_finding_is_made_small() -> None:
    text = (GOLDEN / "check" / "readme.mil").read_bytes() + b"\n// relu and fp16\n"
    made = minimized(text, lambda data: trials.tried(planted, data) is not None, TARGETS["parse"].cuts, 20)
    assert made in (b"relufp16", b"fp16relu")
    assert minimized(b"abcabc", lambda data: data.count(b"a") == 2, [joined(texts.by_bytes)], 20) == b"aa"
    assert minimized(b"abc", lambda data: data == b"abc", [joined(texts.by_bytes)], 20) == b"abc"
    assert minimized(b"abc", lambda data: True, [joined(texts.by_bytes)], 20) == b""


def test_a_message_is_made_small_by_its_fields() -> None:
    text = "program(1.3) { func f<ios18>(fp16 x) { fp16 z = tanh(x = x); fp16 y = relu(x = z); } -> (y); }"
    program = miltext.parse(text)

    def fails(data: bytes) -> bool:
        made = messages.read(Program, data)
        return made is not None and any(each.type == "relu" for _, each in miltext.schema.walk.operations(made))

    assert fails(messages.wire(program))
    made = messages.read(Program, minimized(messages.wire(program), fails, TARGETS["print"].cuts, 20))
    assert made is not None
    ((_, operation),) = miltext.schema.walk.operations(made)
    assert (operation.type, len(operation.outputs), len(list(messages.sites(made)))) == ("relu", 0, 4)


# ---- engines and jobs


def test_without_atheris_seeds_come_first_and_time_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, pool, clock = list[bytes](), seeds("evaluate"), iter(range(100))
    monkeypatch.setattr("fuzz.engines.time.monotonic", lambda: next(clock))
    engines.plain(TARGETS["evaluate"], tried.append, 1, 7)
    assert tried[: len(pool)] == pool
    assert len(tried) == len(pool) + 7


def test_words_are_written_as_libfuzzer_reads_them(tmp_path: Path) -> None:
    assert engines._dictionary(tmp_path / "w", []) == []
    assert engines._dictionary(tmp_path / "w", ['"é', "x"]) == [f"-dict={tmp_path / 'w'}"]
    assert (tmp_path / "w").read_text() == '"\\x22\\xc3\\xa9"\n"\\x78"\n'


COUNTS = "import json; open({counted!r}, 'w').write(json.dumps([3, 1, ['parse-a.mil']]));"
DIES = "open({running!r}, 'w').write('deadly'); import os; os._exit({status})"


@pytest.mark.parametrize("status", [0, 9])
def test_the_input_that_kills_a_job_is_found(tmp_path: Path, status: int) -> None:
    places = {"counted": str(trials.count_file(tmp_path, "parse", 0)), "status": status}
    code = COUNTS.format(**places) + DIES.format(running=str(trials.running_file(tmp_path, "parse", 0)), **places)
    started: list[tuple[int, float]] = []

    def command(seed: int, seconds: float) -> list[str]:
        started.append((seed, seconds))
        return [sys.executable, "-S", "-c", code if len(started) == 1 else COUNTS.format(**places)]

    job = jobs.Job("parse", ".mil", tmp_path, 0, 7, 30, command)
    over(job)
    tried, failed, new = job.count()
    assert [seed for seed, _ in started] == ([7] if status == 0 else [7, 7 + (1 << 16)])
    assert (tried, failed, len(new)) == ((3, 1, 1) if status == 0 else (7, 3, 2))
    deadly = [path for path in tmp_path.glob("*.mil") if path.read_bytes() == b"deadly"]
    assert len(deadly) == (status != 0)


def over(job: jobs.Job) -> jobs.Job:
    while not job.is_over():
        time.sleep(0.01)
    return job


def test_a_job_that_never_begins_gives_a_reason(tmp_path: Path) -> None:
    run = [sys.executable, "-S", "-c", "raise OSError('why')"]
    with pytest.raises(jobs.NeverBegun, match="why"):
        over(jobs.Job("parse", ".mil", tmp_path, 0, 1, 30, lambda *_: run))


def test_a_job_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PATIENCE", 0)
    running = trials.running_file(tmp_path, "parse", 0)
    code = f"import time; open({str(running)!r}, 'w').write('endless'); time.sleep(60)"
    job = jobs.Job("parse", ".mil", tmp_path, 0, 1, 0, lambda *_: [sys.executable, "-S", "-c", code])
    over(job)
    assert [path.read_text() for path in tmp_path.glob("*.mil")] == ["endless"]


# ---- the commands, and what becomes of findings


def finding(folder: Path, name: str, data: bytes) -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


def called(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_findings_are_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = finding(tmp_path, "parse-1.mil", b"program(1.3) {}")
    assert called("replay", path) == (0, f"{path}: holds\n")
    monkeypatch.setattr("fuzz.laws.reading.check_reading", lambda text: 1 / 0)
    status, said = called("replay", path)
    assert status == 1
    assert "ZeroDivisionError" in said
    status, said = called("adopt", path, "x", "A text that holds.")
    assert status == 1
    assert "still fails" in said


def test_a_target_that_never_begins_lets_others_continue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(name: str, *_: object) -> Iterator[jobs.Result]:
        yield jobs.Result(trials.Count(3))
        if name == "parse":
            raise jobs.NeverBegun("why")

    monkeypatch.setattr("fuzz.__main__.run_jobs", never)
    status, said = called("run", "parse", "format", "--engine", "plain", "--out", str(tmp_path))
    assert status == 1
    assert "parse: why" in said
    assert "format: 3 inputs" in said


def test_an_interrupt_reports_the_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Iterator[jobs.Result]:
        yield jobs.Result(trials.Count(3))
        raise KeyboardInterrupt

    monkeypatch.setattr("fuzz.__main__.run_jobs", interrupted)
    status, said = called("run", "parse", "--engine", "plain", "--out", str(tmp_path))
    assert status == 1
    assert "parse: 3 inputs" in said
    assert "Aborted" in said


def test_files_are_found_from_where_the_command_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    finding(tmp_path, "weights-1.file", b"npy: check npy.mil\nnothing")
    assert called("replay", "weights-1.file") == (0, "weights-1.file: holds\n")
    assert called("minimize", "weights-1.file") == (0, "weights-1.file: holds\n")


def test_a_name_without_a_target_is_refused(tmp_path: Path) -> None:
    status, said = called("replay", finding(tmp_path, "what.mil", b""))
    assert (status, "begins with its target" in said) == (2, True)
    status, said = called("run", "parsing")
    assert (status, "`parsing` is not a target" in said) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("x", "no capital letter."), "begins with a capital letter"),
        (("x", "No full stop"), "ends with a full stop"),
        (("../x", "A text that holds."), "is that of a file"),
        (("", "A text that holds."), "is that of a file"),
    ],
)
def test_a_golden_has_a_name_and_a_sentence(arguments: tuple[str, str], said: str, tmp_path: Path) -> None:
    assert said in called("adopt", finding(tmp_path, "parse-1.mil", b"program(1.3) {}"), *arguments)[1]


@pytest.mark.parametrize("option", ["--jobs=0", "--minutes=0", "--minutes=-1", "--engine=afl"])
def test_odd_options_are_refused(option: str) -> None:
    assert called("run", "parse", option)[0] == 2


@pytest.mark.parametrize(
    ("name", "data", "place"),
    [
        ("parse-1.mil", b"program(1.3) {", "errors/new.mil"),
        ("check-1.mil", b"program(1.3) {}", "check/new.mil"),
        ("parse-1.mil", b"\xff", "fuzz/parse-new.mil"),
        ("format-1.mil", b"program(1.3) {}", "fuzz/format-new.mil"),
        ("print-1.pb", b"\x08\x01", "print/new.txtpb"),
        ("print-1.pb", b"\xfa\x01\x00", "fuzz/print-new.pb"),
        ("load-1.file", b"npy: check npy.mil\n\0", "fuzz/load-new.file"),
    ],
)
def test_a_finding_has_its_place_among_the_goldens(
    name: str, data: bytes, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adopting, "GOLDEN", tmp_path / "golden")
    monkeypatch.setattr(adopting, "HERE", tmp_path / "golden" / "fuzz")
    monkeypatch.setattr("fuzz.adopting.subprocess.run", lambda *_, **__: None)
    (tmp_path / "golden").mkdir()
    path = Path(finding(tmp_path, name, data))
    made = adopting.adopt(path, "new", "Shows that it is read.")
    assert tmp_path / "golden" / place in made
    content = (tmp_path / "golden" / place).read_bytes()
    assert data in content or place.endswith(".txtpb")
    assert (b"Shows that it is read." in content) == (not place.startswith("fuzz"))
    with pytest.raises(FileExistsError, match="choose another name"):
        adopting.adopt(path, "new", "Shows that it is read.")


def test_the_page_reports_every_target_and_command() -> None:
    page = (ROOT / "fuzz" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(TARGETS)
    assert {*re.findall(r"python -m fuzz (\w+)", page)} == {*main.commands}
    assert called("list")[1].count("\n") == len(TARGETS)
