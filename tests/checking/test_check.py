"""`check`: a golden for each code, and what it says of texts, Programs and models."""

from __future__ import annotations

import ast
import importlib.util
import re
import time
from functools import cache
from pathlib import Path

import pytest
from conftest import GOLDEN, ROOT, Check

import miltext
from miltext.checking.verifier import examine
from miltext.diagnostics import codes, render
from miltext.diagnostics.codes import TABLE, TITLES, explanation, fix
from miltext.schema.proto import Program

CASES = sorted((GOLDEN / "check").glob("*.mil"))
DOCS = ROOT / "docs" / "diagnostics.md"
PARTS = re.findall(r"(?ms)^### (MIL\d{3})\n\n\*\*(.*?)\.\*\*(.*?)(?=^##|\Z)", DOCS.read_text(encoding="utf-8"))
OF_TEXTS = re.compile(r"MIL(?!11[23])[01567]\d\d")
"""The codes that `check` can give to a text by itself: it takes drafts, so MIL112 and MIL113 are the parser's alone."""

NOT_TO_BE_HAD = {"MIL205", "MIL405", "MIL900"}
"""Faults of miltext's own, and a model of more than 2 GiB."""

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 3]> x) {
            tensor<fp16, [2, 3]> hidden = relu(x = x);
            tensor<fp16, [3, 2]> y = tanh(x = hiden);
        } -> (y);
}
"""

needs_coremltools = pytest.mark.skipif(
    importlib.util.find_spec("coremltools") is None, reason="coremltools is not installed"
)


def report(text: str, name: str) -> str:
    """What a person sees of a text."""
    checked = examine(text)
    return "".join(f"{render(diagnostic, checked.text, name)}\n" for diagnostic in checked.diagnostics)


# ---- goldens, codes and the page


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden(case: Path, matches_golden: Check) -> None:
    text = case.read_bytes().decode()
    matches_golden(case.with_suffix(".txt"), report(text, case.name))


NAMES = {name: code for name, code in vars(codes).items() if isinstance(code, str) and code in TABLE}
SOURCES = [path for path in sorted((ROOT / "src").rglob("*.py")) if path.parent.name != "codes"]
HELP = "Explain a code such as MIL604, or an operation."
"""The help of a verb, which is read without the table."""


@cache
def nodes(path: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(path.read_bytes()))]


def test_each_code_has_one_name() -> None:
    assert sorted(NAMES.values()) == list(TITLES)


@pytest.mark.any_version
def test_each_name_of_a_code_is_used() -> None:
    attributes = [node for path in SOURCES for node in nodes(path) if isinstance(node, ast.Attribute)]
    used = {node.attr for node in attributes if ast.unparse(node.value) == "codes"}
    assert NAMES.keys() - used == set()


@pytest.mark.any_version
def test_no_code_has_a_second_name() -> None:
    called = {f"codes.{name}" for name in NAMES}
    second = []
    for path in SOURCES:
        for node in (node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.Assign)):
            is_pairwise = isinstance(node.targets[0], ast.Tuple)
            values = node.value.elts if is_pairwise and isinstance(node.value, ast.Tuple) else [node.value]
            second += [(path.name, ast.unparse(value)) for value in values if ast.unparse(value) in called]
    assert second == []


def test_codes_are_spelled_in_the_table_alone() -> None:
    """Apart from docstrings, which are remarks or the help of a verb."""
    spelled = []
    for path in SOURCES:
        remarks = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
        for node in nodes(path):
            if isinstance(node, ast.Constant) and id(node) not in remarks and node.value != HELP:
                spelled += [(path.name, code) for code in re.findall(r"MIL\d{3}", str(node.value))]
    assert [each for each in spelled if each[0] not in ("check_verb.py", "explain_verb.py")] == []


@pytest.mark.parametrize("code", TITLES)
def test_the_fix_on_the_page_begins_with_the_way_out(code: str) -> None:
    assert f"Fix: {fix(code)}" in " ".join(explanation(code).split())


GRAVITY = {"note": 0, "warning": 1, "error": 2}
REPORTS = {"error": 2, "refusal": 2, "LoweringError": 2, "ArrayProblem": 2, "warning": 1}
"""Calls that report a code, and how grave that is."""


def test_a_finding_has_the_severity_of_its_row() -> None:
    """The code of an error may be a warning elsewhere, as for a fault of the original."""
    graver = []
    for path in SOURCES:
        for call in (node for node in nodes(path) if isinstance(node, ast.Call) and node.args):
            name, gravity = ast.unparse(call.args[0]).removeprefix("codes."), REPORTS.get(ast.unparse(call.func), 0)
            if name in NAMES and GRAVITY[TABLE[NAMES[name]].severity] < gravity:
                graver.append((path.name, call.lineno, name))
    assert graver == []


def test_the_page_shows_codes_as_grave_as_their_rows() -> None:
    shown: dict[str, int] = {}
    for severity, code in re.findall(r"\b(error|warning|note)\[(MIL\d{3})\]: ", DOCS.read_text(encoding="utf-8")):
        shown[code] = max(GRAVITY[severity], shown.get(code, 0))
    assert len(shown) > 70
    rows = {code: GRAVITY[TABLE[code].severity] for code in shown}
    of_a_parse = {"MIL107": 2, "MIL111": 2, "MIL119": 2}
    assert {code: row for code, row in rows.items() if row != shown[code]} == of_a_parse


def test_every_code_of_texts_has_a_golden() -> None:
    reports = "".join(case.with_suffix(".txt").read_text(encoding="utf-8") for case in CASES)
    told = set(re.findall(r"\[(MIL\d{3})\]", reports))
    assert {code for code in TITLES if OF_TEXTS.fullmatch(code)} == told
    for case in CASES:
        if case.stem in TITLES:
            assert f"[{case.stem}]" in case.with_suffix(".txt").read_text(encoding="utf-8")


def test_every_other_code_has_a_test() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    untested = {code for code in TITLES if not OF_TEXTS.fullmatch(code) and code not in tests}
    assert untested <= NOT_TO_BE_HAD


def test_the_page_has_a_part_for_every_code() -> None:
    assert {code: title for code, title, _ in PARTS} == {code: _capital(title) for code, title in TITLES.items()}
    assert [code for code, _, _ in PARTS] == list(TITLES)
    assert [explanation(code) for code in TITLES] == [f"**{title}.**{body.rstrip()}\n" for _, title, body in PARTS]


def _capital(title: str) -> str:
    return title[0].upper() + title[1:]


def test_the_page_shows_the_goldens(request: pytest.FixtureRequest, matches_golden: Check) -> None:
    """Under `--mil-update` the reports on the page are written anew, too."""
    page = DOCS.read_text(encoding="utf-8")
    for code, _, body in PARTS:
        golden = GOLDEN / "check" / f"{code}.txt"
        if golden.exists():
            before, opening, after = body.partition("```text\n")
            assert opening, f"{code} shows no report"
            page = page.replace(
                body, before + opening + golden.read_text(encoding="utf-8") + after[after.index("```") :]
            )
        assert len(body.split()) > 10, f"{code} says too little"
    matches_golden(DOCS, page)


def test_the_page_shows_a_report_as_it_is() -> None:
    golden = (GOLDEN / "check" / "readme.txt").read_text(encoding="utf-8")
    assert f"```text\n{golden.replace('readme.mil', 'model.mil')}```\n" in DOCS.read_text(encoding="utf-8")


def test_strict_findings_have_codes() -> None:
    findings = miltext.strict_findings(TEXT.replace("(x = x)", "(x = $unset, y = fp16(nan))"))
    assert [(finding.severity, finding.code) for finding in findings] == [("error", "MIL203"), ("warning", "MIL204")]


# ---- the API


def test_text_has_mistakes_reported_in_order_with_their_places() -> None:
    first, second = miltext.check(TEXT.replace("[3, 2]", "[2, 3]").replace("(y)", "(z)"))
    assert (first.severity, first.code, first.suggestion) == ("error", "MIL604", "hidden")
    assert first.span is not None
    assert TEXT[first.span.start : first.span.end] == "hiden"
    assert second.message == "`z` is not defined"
    assert miltext.check(TEXT.replace("hiden", "hidden").replace("[3, 2]", "[2, 3]")) == []


def test_a_suggestion_fixes_its_own_finding() -> None:
    text = TEXT.replace("hiden", "hidden")
    [finding] = miltext.check(text)
    assert finding.code == "MIL701"
    assert finding.span is not None
    mended = text[: finding.span.start] + str(finding.suggestion) + text[finding.span.end :]
    assert miltext.check(mended) == []


@pytest.mark.parametrize(
    ("dialect", "operation", "hint"),
    [
        ("1.3", 'tensor<fp32, [2]> y = cast(dtype = string("float32"), x = x);', "fp32"),
        ("1.3", '_ y = cast(dtype = "Float32", x = x);', "fp32"),
        ("1.3", '_ y = cast(dtype = "half", x = x);', "fp16"),
        ("1.3", '_ y = cast(dtype = "FP32", x = x);', "fp32"),
        ("1.3", "tensor<fp32, [2]> y = cast(dtype = float32, x = x);", 'string("fp32")'),
        ("1.0", "tensor<fp32, [2]> y = cast(dtype = float32, x = x);", 'tensor<string, []>("fp32")'),
        ("1.3", "_ y = cast(dtype = float32, x = x);", '"fp32"'),
        ("1.0", "y = cast(x, float32);", '"fp32"'),
        ("1.3", "_ y = reduce_sum(axes = [0], keep_dims = True, x = x);", "true"),
        ("1.3", "y = reduce_sum(x, [0], True);", "true"),
        ("1.0", "tensor<fp16, [1]> y = reduce_sum(keep_dims = True, x = x);", "tensor<bool, []>(true)"),
        ("1.3", "tensor<bool, [1]> y = reduce_sum(keep_dims = FALSE, x = x);", "bool(false)"),
        ("1.0", "_ y = reduce_sum(axes = [0], keep_dims = True, x = x);", "true"),
        ("1.3", "_ y = reduce_sum(axes = [0], keep_dims = bool(True), x = x);", "true"),
        ("1.3", "_ y = concat(axis = 0, values = [True, false]);", "true"),
        ("1.3", "bool y = const()[val = True];", "bool(true)"),
    ],
)
def test_a_word_of_another_language_is_answered_with_ours(dialect: str, operation: str, hint: str) -> None:
    text = f"program({dialect}){{func main<ios18>(tensor<fp16, [2]> x){{ {operation} }} -> (y);}}"
    errors = [found for found in miltext.check(text) if found.severity == "error"]
    assert [found.message.endswith(f"; did you mean `{hint}`?") for found in errors] == [True]
    assert errors[0].suggestion in (hint, f'"{hint}"', f'string("{hint}")', None)


@pytest.mark.parametrize("dialect", ["1.0", "1.3"])
@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
@pytest.mark.parametrize("op_type", ["gelu", "inverse", "log", "rsqrt"])
def test_argument_requested_can_be_written_as_message_states(op_type: str, dtype: str, dialect: str) -> None:
    head = f"program({dialect}){{func main<ios18>(tensor<{dtype}, [2]> x){{ tensor<{dtype}, [2]> y = {op_type}("
    (found,) = miltext.check(f"{head}x = x); }} -> (y);}}")
    assert (found.severity, found.code) == ("warning", "MIL513")
    (written,) = re.findall(r"write `(.*)`", found.message)
    assert miltext.check(f"{head}{written}, x = x); }} -> (y);}}") == []


def test_a_suggested_type_is_spelled_in_the_texts_dialect() -> None:
    text = TEXT.replace("hiden", "hidden").replace("[2, 3]", "[]").replace("1.3", "1.0")
    assert miltext.check(text)[0].suggestion == "tensor<fp16, []>"
    assert miltext.check(text.replace("1.0", "1.3"))[0].suggestion == "fp16"


@pytest.mark.parametrize("dialect", ["1.0", "1.3"])
@pytest.mark.parametrize(
    "gap", ["", " ", "\n\r\n\t", "// program(1.3)\n", "/* program(1.0) */", "/* a */ // b\n /***/"]
)
def test_the_dialect_is_reported_behind_comments_too(gap: str, dialect: str) -> None:
    text = TEXT.replace("hiden", "hidden").replace("[2, 3]", "[]")
    (head, rest) = text.split("program(1.3)")
    spelled = gap.join([head, "program", "(", dialect, ")", rest])
    suggested = {found.suggestion for found in miltext.check(spelled)}
    assert ("tensor<fp16, []>" if dialect == "1.0" else "fp16") in suggested


def test_a_program_is_reported_where_its_text_states_it() -> None:
    program = miltext.parse(TEXT)
    checked = examine(program)
    assert checked.text == miltext.to_text(program)
    assert checked.diagnostics == miltext.check(program) == miltext.check(checked.text)
    assert examine(miltext.parse(TEXT.replace("hiden", "hidden").replace("[3, 2]", "[2, 3]"))) == ([], None)


def test_an_unknown_field_is_a_note_and_the_rest_is_checked() -> None:
    program = miltext.parse(TEXT)
    known = miltext.check(program)
    program.MergeFromString(b"\xf8\x07\x01")  # a field of the number 127
    note, *others = miltext.check(program)
    assert (note.code, note.severity, note.span) == ("MIL202", "note", None)
    assert others == known != []


def test_a_model_is_reported_where_its_text_states_it(tmp_path: Path) -> None:
    (tmp_path / "a.mil").write_text(TEXT)
    (tmp_path / "a.pb").write_bytes(miltext.parse(TEXT).SerializeToString())
    for name in ("a.mil", "a.pb"):
        model = miltext.load(tmp_path / name)
        assert examine(model) == (miltext.check(TEXT), TEXT)


def test_a_quoted_name_is_named_as_the_text_spells_it() -> None:
    """Nothing of a Program reaches a terminal as it is; and what is suggested mends the text."""
    program = miltext.parse(TEXT.replace("hiden", '$"h\\u{1b}[31m a"').replace(" hidden ", ' $"h\\u{1b}[31m ab" '))
    program.functions["main"].opset = "ios\x1b"
    checked = examine(program)
    unknown, _, _, missing = checked.diagnostics  # between them, that there is no such opset and that this is no name
    assert unknown.message.startswith('the function has no block for its opset `$"ios\\u{1b}"`; ')
    assert missing.message == '`$"h\\u{1b}[31m a"` is not defined; did you mean `$"h\\u{1b}[31m ab"`?'
    assert missing.suggestion == '$"h\\u{1b}[31m ab"'
    assert all("\x1b" not in render(found, checked.text, "a\x1b.mil") for found in checked.diagnostics)


@pytest.mark.any_version
def test_suggestions_take_no_more_than_a_moment() -> None:
    """There are two million pairs here of a name that is missing and one that is there."""
    body = "".join(f"fp16 name_{at} = relu(x = nane_{at});\n" for at in range(2_000))
    start = time.perf_counter()
    found = miltext.check(f"program(1.3) {{ func main<ios18>(fp16 x) {{\n{body} }} -> (name_0); }}")
    assert len(found) == 2_000
    assert found[100].suggestion is not None
    assert time.perf_counter() - start < 10


def test_inputs_of_another_operation_are_reported_together() -> None:
    text = TEXT.replace("tanh(x = hiden)", "relu(pad = hidden, strides = hidden, x = hidden)").replace(
        "[3, 2]", "[2, 3]"
    )
    [found] = miltext.check(text)
    assert (found.code, found.message) == ("MIL504", "`relu` has no parameter `pad`; it takes `x`")
    assert [note.message for note in found.notes] == ["nor `strides`"]


@pytest.mark.parametrize(
    ("call", "note"),
    [
        ('max_pool(ceil_mode = true, kernel_sizes = [2], pad_type = "same", x = x)', '`pad_type` is string("same")'),
        ("clip(alpha = fp16(2), beta = fp16(1), x = x)", "`alpha` is fp16(2.0)"),
        ("clip(alpha = some, beta = fp16(1), x = x)", "`alpha` is fp16(3.0)"),
        ("reshape(shape = [7], x = x)", "`x` is tensor<fp16, [1, 2, 4]>"),
    ],
)
def test_the_clash_of_an_argument_is_shown_by_value_or_type(call: str, note: str) -> None:
    body = f"fp16 some = const()[val = fp16(3)]; _ y = {call};"
    found = miltext.check(f"program(1.3) {{ func main<ios18>(tensor<fp16, [1, 2, 4]> x) {{ {body} }} -> (y); }}")
    assert note in [note.message for each in found for note in each.notes]


@pytest.mark.parametrize(
    ("call", "argument", "words"),
    [
        ('einsum(equation = "nchw,nwhu->nchu", values = ())', "values = ()", "takes two tensors, not 0"),
        (
            "reshape_like(begins = (), ends = (1), end_masks = (false), ref_tensors = (x), x = x)",
            "begins = ()",
            "must have a value for each of the 1 `ref_tensors`, not 0",
        ),
        ("concat(axis = 0, interleave = false, values = ())", "values = ()", "takes one value or more, not none"),
    ],
)
def test_no_values_where_must_be_some_are_reported_at_argument(call: str, argument: str, words: str) -> None:
    text = f"program(1.3) {{ func main<ios18>(tensor<fp16, [1]> x) {{ _ y = {call}; }} -> (y); }}"
    [found] = [each for each in miltext.check(text) if each.severity == "error"]
    assert words in found.message
    assert found.span is not None
    assert text[found.span.start : found.span.end] == argument


def test_an_operation_like_a_right_one_is_judged_by_itself() -> None:
    """What no signature lists is right as an attribute, not as an input; in each function, what is too new for it."""
    body = """{
        tensor<fp16, [2]> a = relu(x = x)[alpha = fp16(1)];
        tensor<fp16, [2]> b = relu(x = a)[alpha = fp16(1)];
        tensor<fp16, [2]> c = relu(x = b, alpha = fp16(1));
        tensor<fp16, [2]> d = scaled_dot_product_attention(key = x, query = x, value = x);
        tensor<fp16, [2]> e = scaled_dot_product_attention(key = x, query = x, value = x);
    } -> (c);"""
    text = "".join(f"func {name}<ios16>(tensor<fp16, [2]> x) {body}" for name in ("f", "g"))
    assert [found.code for found in miltext.check(f"program(1.3){{{text}}}")] == ["MIL504", "MIL502"] * 2


def test_windows_line_ends_do_not_show() -> None:
    assert report(TEXT.replace("\n", "\r\n"), "a.mil") == report(TEXT, "a.mil")
    assert "\ufffd" not in report(TEXT.replace("];", "]").replace("\n", "\r\n"), "a.mil")


def test_a_missing_part_is_called_so() -> None:
    """Such Programs are made by code: their text has `$""`, or nothing, where a name should stand."""
    program = Program()
    program.functions["f"].block_specializations["CoreML8"].operations.add()
    assert [finding.message for finding in miltext.check(program)] == [
        "the function has no opset; it has blocks for ios18",
        "a name is missing here",
        "the function returns nothing, but a model needs at least one output; return a value",
    ]
    assert miltext.check(Program()) == []


def test_an_invalid_name_is_not_also_an_unknown_operation() -> None:
    text = TEXT.replace("hiden", "hidden").replace("[3, 2]", "[2, 3]").replace("tanh", '$"my own"')
    assert [found.code for found in miltext.check(text)] == ["MIL601"]


def test_nothing_is_reported_twice() -> None:
    """Two parts of one type that lack theirs have the type's place, and one report."""
    text = "program(1.3) {{ func f<ios18>({} x) {{ fp16 y = const()[val = fp16(1)]; }} -> (y); }}"
    for shape in ("list<$absent, $empty>", "dict<$absent, $absent>", "tuple<$empty, int32, $empty, tuple<$empty>>"):
        assert [found.code for found in miltext.check(text.format(shape))] == ["MIL616"]


def test_only_programs_are_checked() -> None:
    with pytest.raises(TypeError, match="expected MIL text, a path, a Program or a Model, not CoreML"):
        miltext.check(miltext.parse(TEXT).functions["main"])


@needs_coremltools
def test_coremltools_messages_are_checked_as_they_are() -> None:
    from coremltools.proto import MIL_pb2

    theirs = MIL_pb2.Program.FromString(miltext.parse(TEXT).SerializeToString())
    assert miltext.check(theirs) == miltext.check(TEXT)


@needs_coremltools
def test_an_error_of_coremltools_loader_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.mil"
    path.write_text(TEXT.replace("hiden", "hidden").replace("[3, 2]", "[2, 3]").replace("tanh", "my_own"))
    found, said = examine(miltext.load(path), with_coremltools=True).diagnostics
    assert (found.code, said.code, said.severity) == ("MIL501", "MIL801", "warning")
    assert "my_own" in said.message
    assert found.span == said.span
    path.write_text(TEXT.replace("hiden", "hidden").replace("[3, 2]", "[2, 3]"))
    assert examine(miltext.load(path), with_coremltools=True).diagnostics == []
    path.write_text("program(1.3) {")
    assert [found.code for found in examine(miltext.load(path), with_coremltools=True).diagnostics] == ["MIL005"]


BRANCHES = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 3]> x) {
            fp16 s = reduce_sum(keep_dims = bool(false), x = x);
            bool p = less(x = s, y = fp16(1));
            tensor<fp16, [2, 3]> y = cond(pred = p)
                () { tensor<fp16, [2, 3]> a = relu(x = x); tensor<fp16, [2, 3]> b = tanh(x = a); } -> (b)
                () { tensor<fp16, [2, 3]> c = sigmoid(x = x); } -> (c);
        } -> (y);
}
"""


@needs_coremltools
@pytest.mark.parametrize(
    ("right", "wrong", "blamed"),
    [
        ("tanh", "my_own", "my_own"),
        ("sigmoid", "my_own", "my_own"),
        ("[2, 3]> y", "[3, 2]> y", "cond"),
        ("less", "my_own", "my_own"),
    ],
)
def test_coremltools_complaint_is_at_the_innermost_operation(
    tmp_path: Path, right: str, wrong: str, blamed: str
) -> None:
    path = tmp_path / "a.mil"
    text = BRANCHES.replace(right, wrong)
    path.write_text(text)
    found = examine(miltext.load(path), with_coremltools=True).diagnostics
    [said] = [diagnostic for diagnostic in found if diagnostic.code == "MIL801"]
    assert said.span
    assert text[said.span.start : said.span.end] == blamed


@needs_coremltools
def test_a_mistake_of_ours_is_not_the_loaders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(program: Program, asked: None) -> None:
        raise TypeError("a mistake")

    monkeypatch.setattr("miltext.descriptions.program_descriptions.describe", broken)
    path = tmp_path / "a.mil"
    path.write_text(BRANCHES)
    with pytest.raises(TypeError, match="a mistake"):
        examine(miltext.load(path), with_coremltools=True)


def test_a_value_of_too_few_elements_is_one_report() -> None:
    """What such a value says of a shape is not to be trusted."""
    program = miltext.parse(
        """program(1.3){func main<ios18>(tensor<fp16, [2, 3]> x){
        tensor<int32, [2]> s = const()[val = tensor<int32, [2]>([3, 2])];
        tensor<fp16, [3, 2]> y = reshape(shape = s, x = x);
        } -> (y);}"""
    )
    value = program.functions["main"].block_specializations["CoreML8"].operations[0].attributes["val"]
    assert miltext.check(program) == []
    del value.immediateValue.tensor.ints.values[1]
    assert [found.code for found in miltext.check(program)] == ["MIL612"]


def test_a_quoted_opset_is_reported_from_the_known_one() -> None:
    text = TEXT.replace("<ios18>", '<$"ios18">')
    ((said, fix),) = [(found.message, found.suggestion) for found in miltext.check(text) if found.code == "MIL627"]
    way = "which miltext reads as CoreML8; write `ios18` without quotes"
    assert (said, fix) == (f"the name of this opset in the Program is `ios18`, {way}", "ios18")


POOL = "MIL515 `kernel_sizes` of `max_pool`"


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (
            "slice_by_index(begin = [0, 0], end = [1, 2], x = x)",
            ["MIL515 `begin` of `slice_by_index` must be of shape [4], not [2]; `x` is of shape [1, 4, 8, 8]"],
        ),
        (
            'max_pool(kernel_sizes = [2], strides = [2], pad_type = "valid", x = x)',
            [f"{POOL} must be of shape [2], not [1]; `x` is of shape [1, 4, 8, 8]; write `[2, 2]`"],
        ),
        (
            "crop_resize(roi = roi, target_height = 2, target_width = 2, x = x)",
            ["MIL502 `roi` of `crop_resize` was removed in ios17; since then, it is `boxes`"],
        ),
    ],
)
def test_arguments_that_are_wrong_together_are_reported_once(operation: str, said: list[str]) -> None:
    inputs = "tensor<fp16, [1, 4, 8, 8]> x, tensor<fp16, [2, 1, 4, 1, 1]> roi"
    text = f"program(1.3) {{ func f<ios17>({inputs}) {{ _ y = {operation}; }} -> (y); }}"
    found = [f"{one.code} {one.message}" for one in miltext.check(text) if one.severity == "error"]
    assert found == said


@pytest.mark.parametrize(
    ("word", "meant"),
    [("int64", "int32"), ("float64", "fp32"), ("double", "fp32"), ("FP17", "fp16"), ("gelu", None), ("nt32", None)],
)
def test_a_word_of_another_meaning_is_not_suggested(word: str, meant: str | None) -> None:
    text = f'program(1.3) {{ func f<ios17>(fp16 x) {{ _ y = cast(dtype = "{word}", x = x); }} -> (y); }}'
    (found,) = [one for one in miltext.check(text) if one.severity == "error"]
    assert found.code == "MIL519"
    assert found.suggestion == (meant and f'"{meant}"')
