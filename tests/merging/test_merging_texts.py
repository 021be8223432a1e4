"""Merges of texts: what becomes of each pair of changes, and what comes between markers."""

from __future__ import annotations

import re

import pytest

import miltext
from miltext.merging.conflicts import Markers
from miltext.merging.judging import moved_weights, new_errors
from miltext.merging.merging import merge_texts

BASE = """\
program(1.3)
[buildInfo = dict<string, string>({{"coremltools-version", "8.0"}})]
{
    func main<ios18>(tensor<fp16, [2]> x) {
            // makes a
            tensor<fp16, [2]> a = relu(x = x)[name = string("a")];
            tensor<fp16, [2]> b = add(x = a, y = x)[name = string("b")]; // beside b
            tensor<fp16, [2]> c = tanh(x = b)[name = string("c")];
            tensor<fp16, [2]> d = add(x = c, y = a)[name = string("d")];
        } -> (d);
}
"""
LINES = {name: re.search(rf"^ *tensor\S* \S+ {name} = .*\n", BASE, re.MULTILINE)[0] for name in "abcd"}  # type: ignore[index]
NEW = "            tensor<fp16, [2]> n = exp(x = a);\n"


def edited(*changes: tuple[str, str], base: str = BASE) -> str:
    """The base with something written in place of something else, each of which is there."""
    for old, new in changes:
        assert old in base, old
        base = base.replace(old, new)
    return base


def after(name: str, line: str) -> tuple[str, str]:
    return LINES[name], LINES[name] + line


MERGES = {
    "two parameters of one operation": (
        [("add(x = a, y = x)", "add(x = x, y = x)")],
        [('y = x)[name = string("b"', 'y = a)[name = string("b"')],
    ),
    "a rename and a new use": ([("fp16, [2]> a =", "fp16, [2]> aa ="), ("= a", "= aa")], [after("b", NEW)]),
    "two renames": ([("> b =", "> bb ="), ("x = b", "x = bb")], [("> c =", "> cc ="), ("x = c", "x = cc")]),
    "a rename and a change": ([("> b =", "> bb ="), ("x = b", "x = bb")], [("tanh", "sigmoid")]),
    "two insertions at one place": ([after("b", NEW)], [after("b", NEW.replace("n =", "m =").replace("exp", "log"))]),
    "one insertion twice": ([after("b", NEW)], [after("b", NEW)]),
    "a deletion and a change elsewhere": ([(LINES["c"], ""), ("x = c", "x = b")], [("relu", "relu6")]),
    "one deletion twice": ([(LINES["c"], ""), ("x = c", "x = b")], [(LINES["c"], ""), ("x = c", "x = b")]),
    "a move and a change": ([(LINES["b"], ""), after("a", ""), (LINES["d"], LINES["d"])], [("tanh", "sigmoid")]),
    "a layout and a change": ([("    ", "\t")], [("tanh", "sigmoid")]),
    "a change and a layout": ([("tanh", "sigmoid")], [("    ", "  "), ("x = a, y = x", "y = x, x = a")]),
    "a comment and a change": ([("// makes a", "// makes a, by relu")], [("relu", "sigmoid")]),
    "a comment beside and a rename": ([("// beside b", "// here")], [("> b =", "> bb ="), ("x = b", "x = bb")]),
    "a comment inside and a change": ([("x = a, y", "x = a /* in */, y")], [("y = x)[", "y = a)[")]),
    "two outputs": ([("(d)", "(d, b)")], [("(d)", "(d, c)")]),
    "two inputs": ([("> x)", "> x, tensor<fp16, [2]> y)")], [("> x)", "> x, tensor<fp16, [3]> z)")]),
    "an input renamed and used": (
        [("> x)", "> image)"), ("= x", "= image")],
        [after("b", NEW.replace("x = a", "x = x"))],
    ),
    "two attributes": (
        [('string("c")]', 'string("c"), k = int32(1)]')],
        [('string("c")]', 'string("c"), l = int32(2)]')],
    ),
    "an attribute where there was none": ([("relu(x = x)[", "relu(x = x)[k = int32(1), ")], [("tanh", "cos")]),
    "the function's name": ([("func main", "func predict")], [("tanh", "cos")]),
    "two functions": (
        [("    func main", "    func one<ios18>() { fp16 o = const()[val = fp16(1)]; } -> (o);\n    func main")],
        [("    func main", "    func two<ios18>() { fp16 t = const()[val = fp16(1)]; } -> (t);\n    func main")],
    ),
    "the opset and a change": ([("ios18", "ios17")], [("tanh", "cos")]),
    "stamps of both": ([('"8.0"', '"9.0"')], [('"8.0"', '"8.3"')]),
    "a program's attribute of each": (
        [("program(1.3)\n[", "program(1.3)\n[k = int32(1), ")],
        [("program(1.3)\n[", "program(1.3)\n[l = int32(1), ")],
    ),
}


@pytest.mark.parametrize("name", MERGES)
def test_both_changes_are_there(name: str) -> None:
    ours, theirs = (edited(*changes) for changes in MERGES[name])
    for mine, other in ((ours, theirs), (theirs, ours)):
        merged = merge_texts(BASE, mine, other)
        assert not merged.conflicts, merged.text
        program = miltext.parse(merged.text)
        for side in (mine, other):
            assert words(side) - words(BASE) - words(merged.text) <= STAMPS
            assert not (words(BASE) - words(side)) & words(merged.text)
        assert not new_errors(merged.text, mine, other)
        assert merge_texts(BASE, merged.text, other).text == merged.text
        assert miltext.parse(miltext.format_text(merged.text)) == program


STAMPS = {'"9.0"', '"8.3"'}


def words(text: str) -> set[str]:
    return set(re.findall(r'"[^"]*"|\w+ = \w+|//.*|/\*.*?\*/|\w+', text))


def test_the_result_has_both_edits() -> None:
    merged = merge_texts(BASE, edited(("tanh", "cos")), edited(after("b", NEW), ("y = a)", "y = n)")))
    assert merged.text == edited(("tanh", "cos"), after("b", NEW), ("y = a)", "y = n)"))


CONFLICTS = {
    "one operation, two kinds": ([("tanh", "cos")], [("tanh", "sin")], ["cos", "sin"]),
    "one argument": ([("y = a)", "y = b)")], [("y = a)", "y = c)")], ["y = b", "y = c"]),
    "another kind, and another argument": (
        [("tanh(x = b", "cos(x = b")],
        [("tanh(x = b", "tanh(x = a")],
        ["cos", "x = a"],
    ),
    "two names": (
        [("> c =", "> e ="), ("x = c", "x = e")],
        [("> c =", "> f ="), ("x = c", "x = f")],
        ["> e =", "> f ="],
    ),
    "one new name for two things": ([after("b", NEW)], [after("c", NEW.replace("exp", "log"))], ["exp", "log"]),
    "a new name that a rename takes": (
        [after("b", NEW)],
        [("> c =", "> n ="), ("x = c", "x = n")],
        ["exp", "> n = tanh"],
    ),
    "deleted and changed": ([(LINES["c"], ""), ("x = c", "x = b")], [("tanh", "cos")], ["cos"]),
    "deleted and renamed": (
        [(LINES["c"], ""), ("x = c", "x = b")],
        [("> c =", "> e ="), ("x = c", "x = e")],
        ["> e ="],
    ),
    "deleted and used": ([(LINES["c"], ""), ("x = c", "x = b")], [after("c", NEW.replace("x = a", "x = c"))], ["tanh"]),
    "deleted and given a space in a string": (
        [(LINES["c"], ""), ("x = c", "x = b")],
        [('string("c")', 'string(" c")')],
        ['string(" c")'],
    ),
    "deleted and returned": ([(LINES["c"], ""), ("x = c", "x = b")], [("(d)", "(d, c)")], ["tanh"]),
    "two comments": ([("// makes a", "// one")], [("// makes a", "// two")], ["// one", "// two"]),
    "a comment in what the other changes": (
        [("tanh(x = b", "tanh(x = /* of b */ b")],
        [("tanh(x = b", "tanh(x = a")],
        ["/* of b */", "tanh(x = a)"],
    ),
    "a head and a tail": (
        [("program(1.3)\n", "// one\nprogram(1.3)\n"), ("(d);\n}\n", "(d);\n}\n// one\n")],
        [("program(1.3)\n", "// two\nprogram(1.3)\n"), ("(d);\n}\n", "(d);\n}\n// two\n")],
        ["// one\n", "// two\n"],
    ),
    "one input's type": ([("[2]> x)", "[3]> x)")], [("[2]> x)", "[4]> x)")], ["[3]> x", "[4]> x"]),
    "one output's type": ([("[2]> d", "[3]> d")], [("[2]> d", "[4]> d")], ["[3]> d", "[4]> d"]),
    "what the program is for": (
        [("program(1.3)", 'program(1.3) $doc("one")')],
        [("program(1.3)", 'program(1.3) $doc("two")')],
        ["one", "two"],
    ),
    "one output in place of another": (
        [after("c", NEW), ("(d)", "(n)")],
        [after("c", NEW.replace("n =", "m =")), ("(d)", "(m)")],
        ["-> (n)", "-> (m)"],
    ),
    "a value that both add, and its uses": (
        [after("b", NEW), ("y = a)[", "y = n)[")],
        [after("b", NEW.replace("exp", "log")), ("x = c, y", "x = n, y")],
        ["exp", "log", "x = c, y = n", "x = n, y = a"],
    ),
    "the function's opset": ([("ios18", "ios17")], [("ios18", "ios16")], ["ios17", "ios16"]),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_conflict_shows_both_sides(name: str) -> None:
    mine, other, shown = CONFLICTS[name]
    ours, theirs = edited(*mine), edited(*other)
    for sides in ((ours, theirs), (theirs, ours)):
        merged = merge_texts(BASE, *sides, Markers(with_base=True))
        assert merged.conflicts
        between = re.findall(r"^<{7} ours\n.*?^>{7} theirs\n", merged.text, re.MULTILINE | re.DOTALL)
        assert len(between) == merged.conflicts
        assert all(each in "".join(between) for each in shown), merged.text
        assert len(between) <= 2
        assert all("||||||| base\n" in each and "\n=======\n" in each for each in between)
        for side, place in zip(sides, (0, 2), strict=True):
            assert miltext.parse(resolved(merged.text, place)) is not None
            uses = {word for word in words(side) if word[:4] in ("x = ", "y = ")}  # by the names of ours
            assert words(side) - words(BASE) - uses <= words(merged.text)


def resolved(text: str, place: int) -> str:
    """The text with one side of each conflict: 0 is ours, 1 the base, 2 theirs."""
    conflict = re.compile(r"^<{7}[^\n]*\n(.*?)^\|{7}[^\n]*\n(.*?)^={7}\n(.*?)^>{7}[^\n]*\n", re.MULTILINE | re.DOTALL)
    return conflict.sub(lambda match: match[place + 1], text)


def test_all_of_one_side_is_that_side() -> None:
    ours, theirs = edited(("tanh", "cos"), after("b", NEW)), edited(("tanh", "sin"), ("(d)", "(d, c)"))
    merged = merge_texts(BASE, ours, theirs, Markers(with_base=True)).text
    assert resolved(merged, 0) == edited(("tanh", "cos"), after("b", NEW), ("(d)", "(d, c)"))
    assert resolved(merged, 2) == edited(("tanh", "sin"), after("b", NEW), ("(d)", "(d, c)"))


@pytest.mark.parametrize("side", ["base", "ours", "theirs"])
def test_an_unchanged_part_takes_the_other_sides_edit(side: str) -> None:
    changed = edited(("tanh", "cos"), ("    ", "\t"), ("// makes a", "/* a */"))
    texts = {"base": (BASE, changed, changed), "ours": (BASE, changed, BASE), "theirs": (BASE, BASE, changed)}
    assert merge_texts(*texts[side]) == (changed, 0)


ODD = {
    "empty": "program(1.3)\n{\n}\n",
    "without an end": BASE.rstrip("\n"),
    "on one line": re.sub(r"\s+", " ", BASE.replace("// makes a", "").replace("// beside b", "")),
    "names in quotes": BASE.replace("> b =", '> $"b/1" =').replace("x = b", 'x = $"b/1"'),
    "a name twice": BASE.replace(LINES["b"], LINES["b"] * 2),
    "a key twice": BASE.replace("x = a, y = x", "x = a, x = x"),
    "undefined": BASE.replace("x = b", "x = nobody"),
    "without a block": BASE.replace("    func main", "    func other<ios18>() $none;\n    func main"),
    "a block twice": BASE.replace("} -> (d);", "} -> (d)\n$block<ios18> {\n} -> (x);"),
    "a block three times": BASE.replace("} -> (d);", "} -> (d)" + "\n$block<ios18> {\n} -> (x)" * 2 + ";"),
    "a function twice": BASE.replace("} -> (d);", "} -> (d);\nfunc main<ios18>() {\n} -> ();"),
    "a block in two names": BASE.replace("<ios18>", "<ios19>").replace(
        "} -> (d);", "} -> (d)\n$block<ios26> {\n} -> (x);"
    ),
    "two blocks": BASE.replace("} -> (d);", "} -> (d)\n$block<ios17> {\n} -> (x);"),
    "no results": BASE.replace(LINES["c"], LINES["c"] + "            print(x = b);\n" * 2),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_texts_are_merged_too(name: str) -> None:
    base = ODD[name]
    mine, other = base.replace("tanh", "cos"), base.replace("relu", "relu6")
    assert merge_texts(base, mine, other) == (mine.replace("relu", "relu6"), 0)
    assert merge_texts("", base, base) == (base, 0)
    assert merge_texts(base, base, base) == (base, 0)
    assert merge_texts(base, mine, base.replace("tanh", "sin")).conflicts == ("tanh" in base)


def test_labels_and_the_size_of_markers_are_as_requested() -> None:
    markers = Markers("HEAD", "0123abc", "a branch", 12, with_base=True)
    text = merge_texts(BASE, edited(("tanh", "cos")), edited(("tanh", "sin")), markers).text
    for sign, label in (("<", " HEAD"), ("|", " 0123abc"), ("=", ""), (">", " a branch")):
        assert f"\n{sign * 12}{label}\n" in text


@pytest.mark.parametrize(
    "crlf", [("ours",), ("theirs",), ("base", "theirs"), ("base", "ours", "theirs"), ("ours", "theirs")]
)
def test_line_ends_are_the_ones_that_a_side_changed_to(crlf: tuple[str, ...]) -> None:
    texts = {"base": BASE, "ours": edited(("tanh", "cos")), "theirs": edited(("relu", "relu6"))}
    for name in crlf:
        texts[name] = texts[name].replace("\n", "\r\n")
    merged = merge_texts(texts["base"], texts["ours"], texts["theirs"])
    is_changed = ("base" in crlf) != ("ours" in crlf)
    wanted = ("ours" in crlf) if is_changed else ("theirs" in crlf)
    assert merged.conflicts == 0
    assert ("\r\n" in merged.text) == wanted
    assert merged.text.replace("\r\n", "\n") == edited(("tanh", "cos"), ("relu", "relu6"))


@pytest.mark.parametrize("base", ["", "\n", "<<<<<<< a\n=======\n>>>>>>> b\n", "}\n<<<<<<< a\n=======\n>>>>>>> b\n"])
def test_additions_of_both_sides_are_merged_by_name(base: str) -> None:
    assert merge_texts(base, BASE, BASE) == (BASE, 0)
    merged = merge_texts(base, edited(after("b", NEW)), edited(after("c", NEW.replace("n =", "m ="))))
    assert merged == (edited(after("b", NEW), after("c", NEW.replace("n =", "m ="))), 0)
    merged = merge_texts(base, edited(("tanh", "cos")), edited(("tanh", "sin")))
    assert merged.conflicts == 1
    assert merged.text.count("relu") == 1


def test_a_base_with_conflicts_has_not_agreed_on_them() -> None:
    one, two = (LINES["c"].replace("tanh", kind) for kind in ("cos", "sin"))
    conflict = f"<<<<<<<<< one\n{one}=========\n{two}>>>>>>>>> two\n"
    base = BASE.replace(LINES["c"], conflict)
    assert merge_texts(base, edited(("tanh", "cos")), edited(("tanh", "cos"))).conflicts == 0
    merged = merge_texts(base, edited(("tanh", "cos")), edited(("tanh", "sin")))
    assert merged.conflicts == 1
    assert "cos" in merged.text
    assert "sin" in merged.text


@pytest.mark.parametrize("broken", ["base", "ours", "theirs"])
def test_a_version_that_is_not_text_is_named_by_its_name(broken: str) -> None:
    texts = {"base": BASE, "ours": BASE, "theirs": BASE, broken: "program(1.3"}
    with pytest.raises(miltext.ParseError) as failure:
        merge_texts(texts["base"], texts["ours"], texts["theirs"])
    assert failure.value.path == broken


NESTED = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x, bool p) {
            tensor<fp16, [2]> y = cond(pred = p)[name = string("y")]
                () {
                    tensor<fp16, [2]> s = relu(x = x)[name = string("s")];
                } -> (s)
                () {
                    tensor<fp16, [2]> t = tanh(x = x)[name = string("t")];
                } -> (t);
        } -> (y);
}
"""


def test_blocks_inside_are_merged_too() -> None:
    ours, theirs = (
        NESTED.replace("relu", "relu6"),
        NESTED.replace("tanh", "cos").replace("> y", "> z").replace("(y)", "(z)"),
    )
    merged = merge_texts(NESTED, ours, theirs)
    assert merged == (theirs.replace("relu", "relu6"), 0)
    merged = merge_texts(NESTED, ours, NESTED.replace("relu", "silu"))
    assert merged.conflicts == 1
    assert merged.text.count("cond") == 1
    assert merged.text.count("tanh") == 1


def test_a_name_does_not_come_to_mean_another_value() -> None:
    """Ours gives a name to a value outside that theirs gives to a new one inside."""
    ours = NESTED.replace("x, bool p", "u, bool p").replace("x = x", "x = u")
    inside = (
        "                    tensor<fp16, [2]> u = exp(x = x);\n                    tensor<fp16, [2]> v = exp(x = x);\n"
    )
    theirs = NESTED.replace("                } -> (s)", f"{inside}                }} -> (s)")
    assert merge_texts(NESTED, ours, theirs).conflicts


STATEFUL = """\
program(1.3)
{
    func main<ios18>(state<tensor<fp16, [2]>> s, tensor<fp16, [2]> x) {
            tensor<fp16, [2]> a = read_state(input = s);
            write_state(data = x, input = s);
            tensor<fp16, [2]> b = read_state(input = s);
        } -> (b);
}
"""


def test_two_writes_to_a_state_have_no_order() -> None:
    first, last = "            write_state(data = a, input = s);\n", "            write_state(data = b, input = s);\n"
    read = "            tensor<fp16, [2]> r = read_state(input = s);\n"
    before, after = "            write_state(data = x", "        } ->"

    def added(line: str, place: str) -> str:
        return STATEFUL.replace(place, line + place)

    assert merge_texts(STATEFUL, added(last, after), added(last, after)) == (added(last, after), 0)
    assert merge_texts(STATEFUL, added(first, before), added(last, after)).conflicts == 0
    assert merge_texts(STATEFUL, added(read, after), added(read.replace("r =", "q ="), after)).conflicts == 0
    for line in (first, read):
        merged = merge_texts(STATEFUL, added(line, after), added(last, after))
        assert merged.conflicts == 2
        assert line in merged.text
        assert last in merged.text


DRAFT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 8]> x) {
            h = silu(linear(x, $npy("w.npy"))); // hidden
            y = mul(h, rsqrt(square(x), epsilon = 1e-5));
        } -> (y);
}
"""


def test_drafts_are_merged_as_they_are_written() -> None:
    ours, theirs = DRAFT.replace("1e-5", "1e-6"), DRAFT.replace("h = ", "hidden = ").replace("mul(h,", "mul(hidden,")
    assert merge_texts(DRAFT, ours, theirs) == (theirs.replace("1e-5", "1e-6"), 0)
    assert merge_texts(DRAFT, ours, DRAFT.replace("1e-5", "1e-7")).conflicts == 1


def test_types_that_no_longer_fit_are_reported() -> None:
    ours = edited(("[2]> x)", "[3]> x)"), *[(f"[2]> {name}", f"[3]> {name}") for name in "abcd"])
    theirs = edited(after("b", NEW))
    merged = merge_texts(BASE, ours, theirs)
    assert not merged.conflicts
    assert [found.code for found in new_errors(merged.text, ours, theirs)] == ["MIL701"]
    assert new_errors(ours, ours, theirs) == []
    wrong = edited(("tanh", "tanhh"), ("add(x = a", "addd(x = a"))
    assert new_errors(merge_texts(wrong, wrong, wrong.replace("relu", "relu6")).text, wrong, wrong) == []


def test_places_of_weights_that_both_changed_are_a_doubt() -> None:
    def placed(offset: int) -> str:
        value = f'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64({offset}))'
        return edited(after("b", f"            tensor<fp16, [2]> w = const()[val = tensor<fp16, [2]>({value})];\n"))

    assert moved_weights(placed(64), placed(128), placed(64)) is None
    assert moved_weights(placed(64), placed(128), placed(128)) is None
    assert moved_weights(placed(64), placed(128), placed(192))
    assert moved_weights(BASE, BASE, BASE) is None


@pytest.mark.parametrize("wrong", [None, 3, b"program"])
def test_a_file_that_is_not_text_is_refused(wrong: object) -> None:
    for versions in ([wrong, "", ""], ["", wrong, ""], ["", "", wrong]):
        with pytest.raises(TypeError, match="expected MIL text"):
            miltext.merge_texts(*versions)  # type: ignore[arg-type]


# ---- spellings that look alike

OPSETS = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> a = relu(x = x)[name = string("a"), note = string("ios18")];
        } -> (a);
    func other(tensor<fp16, [2]> x) $block<ios17>(tensor<fp16, [2]> z) {
            tensor<fp16, [2]> b = relu(x = x)[name = string("b")];
        } -> (b) $block<ios18> {
            tensor<fp16, [2]> c = tanh(x = x)[name = string("c")];
        } -> (c);
}
"""

ALIKE = {
    "the opset of a function": ("main<ios18>", 'main<$"ios18">'),
    "the opset of a function, by another name": ("main<ios18>", "main<CoreML8>"),
    "the opset of a block": ("$block<ios17>", '$block<$"ios17">'),
    "the opset of another block": ("$block<ios18>", '$block<$"ios18">'),
    "no opset": ("main<ios18>", "main"),
    "a string": ('note = string("ios18")', 'note = string("$ios18")'),
    "a type word": ("a = relu(", 'a = $"fp16"('),
}

SIDES = {
    "laid out": lambda text: text.replace("    ", "  ").replace("(x", "( x"),
    "another operation": lambda text: text.replace("= tanh(", "= sigmoid("),
    "another input": lambda text: text.replace(
        "func main<ios18>(tensor<fp16, [2]> x", "func main<ios18>(tensor<fp16, [3]> x"
    ),
    "an attribute": lambda text: text.replace("[name = ", "[more = fp16(1), name = "),
    "as it was": lambda text: text,
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ALIKE)
def test_similar_changes_of_one_side_are_all_kept(name: str, side: str) -> None:
    old, new = ALIKE[name]
    assert old in OPSETS
    change, ours = OPSETS.replace(old, new), SIDES[side](OPSETS)
    wanted = SIDES[side](OPSETS).replace(old, new)
    if wanted == ours:
        wanted = SIDES[side](change)
    for sides in ((ours, change), (change, ours)):
        merged = merge_texts(OPSETS, *sides)
        assert merged.conflicts == 0
        assert miltext.parse(merged.text) == miltext.parse(wanted)


@pytest.mark.parametrize(("old", "new"), [("= true", '= $"true"'), ('= $"true"', "= true")])
def test_a_name_is_not_a_word_that_is_spelled_like_it(old: str, new: str) -> None:
    base = """\
program(1.3) {
    func main<ios18>(tensor<fp16, [2]> x, bool $"true") {
            y = select(cond = true, a = x, b = x);
            z = select(a = y, b = x, cond = $"true");
        } -> (z);
}
"""
    assert old in base
    for ours in (base.replace("a = ", "a  =  "), base.replace("b = x", "b = x, more = x"), base):
        merged = merge_texts(base, ours, base.replace(old, new))
        assert merged.conflicts == 0
        assert "".join(merged.text.split()) == "".join(ours.replace(old, new).split())
