"""Rule files: mistakes have a place and a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

import miltext
from miltext.rewriting.packaged import patterns, rules_of
from miltext.rewriting.rule_files import RuleFile

RULE = """\
program(1.3)[rules = "1"]
{
    func find_twice(x) {
            y = relu(relu(x));
        } -> (y);
    func replace_twice(x) {
            y = relu(x);
        } -> (y);
}
"""

HEAD = 'program(1.3)[rules = "1"]\n{\n'


def find(body: str, outputs: str = "y", inputs: str = "x", attributes: str = "") -> str:
    return f"{HEAD}    func find_a({inputs}){attributes} {{\n            {body}\n        }} -> ({outputs});\n}}\n"


def replaced(inputs: str, body: str, attributes: str = "", outputs: str = "y") -> str:
    made = f"    func replace_twice({inputs}){attributes} {{\n            {body}\n        }} -> ({outputs});\n"
    return RULE[: RULE.index("    func replace_twice")] + made + "}\n"


def refused(text: str) -> str:
    with pytest.raises(miltext.ParseError) as failure:
        RuleFile(text, "rules.mil")
    [found] = failure.value.diagnostics
    assert found.code == "MIL870"
    assert found.span is not None
    return found.message


WRONG = {
    "no version": (RULE.replace('[rules = "1"]', ""), "does not state its version"),
    "another version": (RULE.replace('"1"', '"2"'), 'rules of version "2" cannot be read'),
    "unknown attribute of the file": (RULE.replace('"1"]', '"1", purpos = "a"]'), "did you mean `purpose`"),
    "no rule": (f"{HEAD}}}\n", "has no rule"),
    "unknown prefix": (RULE.replace("find_twice", "search_twice"), "does not state its purpose"),
    "example of no rule": (RULE.replace("replace_twice", "example_twise"), "did you mean `twice`"),
    "unknown operation": (find("y = rellu(x = x);"), "did you mean `relu`"),
    "unknown parameter": (find("y = relu(z = x);"), "`relu` has no parameter `z`"),
    "undefined name": (find("y = add(x, z);"), "`z` is neither an input"),
    "constant": (find("c = const()[val = 1.0]; y = add(x, c);"), "a pattern has no constants"),
    "unused operation": (find("z = relu(x); y = exp(x);"), "nothing that `find_a` returns needs"),
    "outputs of two operations": (find("z = relu(x); y = exp(z);", "y, z"), "must all be of its last operation"),
    "no output": (find("y = relu(x);", ""), "has no output"),
    "input as output": (find("", "x"), "must all be of its last operation"),
    "attribute of an operation": (find("y = relu(x)[a = true];"), "`a` cannot be part of a pattern"),
    "mixed literal": (find('y = add(x, [1, "a"]);'), "the elements of a literal are of one data type"),
    "unknown attribute": (find("y = relu(x);", attributes='[wher = "true"]'), "did you mean `where`"),
    "number as attribute": (find("y = relu(x);", attributes="[where = int32(1)]"), "`where` is not a string"),
    "unreadable condition": (find("y = relu(x);", attributes='[where = "rank(x"]'), "it cannot be read"),
    "code in a condition": (
        find("y = relu(x);", attributes="[where = \"__import__('os')\"]"),
        "is not one of the functions",
    ),
    "attribute in a condition": (find("y = relu(x);", attributes='[where = "x.y"]'), "is not part of the language"),
    "unknown name in a condition": (
        find("y = relu(x);", attributes='[where = "rank(z) == 1"]'),
        "must test a name of the pattern",
    ),
    "unknown word in a condition": (find("y = relu(x);", attributes='[where = "dtype(x) == fp17"]'), "`fp17` is not"),
    "wrong exactness": (find("y = relu(x);", attributes='[exactness = "near"]'), "`near` is not a bound"),
    "infinite exactness": (find("y = relu(x);", attributes='[exactness = "atol inf"]'), "is not a bound"),
    "wrong domain": (find("y = relu(x);", attributes='[domain = "big"]'), "`big` is not a domain"),
    "unknown shared value": (find("y = relu(x);", attributes='[shared = "a"]'), "`a` is not an inner value"),
    "unknown replacement": (find("y = relu(x);", attributes='[by = "b"]'), "there is no function `replace_b`"),
    "another number of outputs": (replaced("x", "y = relu(x);", outputs="x, y"), "must return as many values"),
    "unknown input of a replacement": (replaced("x, z", "y = add(x, z);"), "`z` is not an input of `find_twice`"),
    "undefined name in a replacement": (replaced("x", "y = add(x, z);"), "`z` is neither an input"),
    "version as a number": (RULE.replace('"1"', "1"), 'is not a string: write `rules = "..."`'),
    "condition without quotes": (find("y = relu(x);", attributes="[where = true]"), "is not a string"),
    "unused input": (find("y = relu(x);", inputs="x, z"), "no operation of `find_a` uses `z`"),
    "unused input in a condition": (
        find("y = relu(x);", inputs="x, z", attributes='[where = "rank(z) == 1"]'),
        "uses `z`",
    ),
    "unused input of a condition on a maker": (
        RULE.replace("    func find", "    func unless_twice(x, q) {\n x = exp(x);\n } -> (x);\n    func find"),
        "`unless_twice` has two values `x`",
    ),
    "unused input of an unless function": (
        RULE.replace("    func find", "    func unless_twice(z, q) {\n x = exp(z);\n } -> (x);\n    func find"),
        "no operation of `unless_twice` uses `q`",
    ),
    "two inputs of one name": (find("y = relu(x);", inputs="x, x"), "`find_a` has two values `x`"),
    "an output with the name of an input": (find("x = relu(x);", "x"), "`find_a` has two values `x`"),
    "two outputs of one name": (find("z = relu(x); z = exp(z); y = exp(z);"), "`find_a` has two values `z`"),
    "a name twice in a replacement": (replaced("x", "x = relu(x);", outputs="x"), "`replace_twice` has two values"),
    "a name in place of a list": (find("y = concat(x, 0);"), "is a list: write its values in parentheses"),
    "a named argument in place of a list": (find("y = concat(values = x, axis = 0);"), "is a list"),
    "a list of a replacement": (replaced("x", "y = concat(x, 0);"), "is a list: write its values in parentheses"),
    "unknown operation of a replacement": (replaced("x", "y = rellu(x = x);"), "did you mean `relu`"),
    "unknown parameter of a replacement": (replaced("x", "y = relu(z = x);"), "`relu` has no parameter `z`"),
    "an operation with blocks": (
        find("y = cond(p) () { t = exp(x); } -> (t) () { f = abs(x); } -> (f);", inputs="x, p"),
        "with blocks cannot be",
    ),
    "too many arguments": (find("y = relu(x, 1);"), "`relu` takes `x` only"),
    "too many arguments of a replacement": (replaced("x", "y = relu(x, 1);"), "`relu` takes `x` only"),
    "a type of a replacement's input": (
        replaced("tensor<fp32, [7]> x", "y = relu(x);"),
        "the type of `x` belongs to `find_twice`",
    ),
    "a condition on a replacement": (
        replaced("x", "y = relu(x);", '[where = "rank(x) == 2"]'),
        "`where` belongs to `find_twice`",
    ),
    "power in a condition": (
        find("y = relu(x);", attributes='[where = "rank(x) ** 2 == 4"]'),
        "the operator of `rank(x) ** 2`",
    ),
    "bits in a condition": (
        find("y = relu(x);", attributes='[where = "rank(x) | 2"]'),
        "the operator of `rank(x) | 2`",
    ),
    "inverted bits in a condition": (find("y = relu(x);", attributes='[where = "~rank(x)"]'), "the operator of `~rank"),
    "identity in a condition": (
        find("y = relu(x);", attributes='[where = "rank(x) is 2"]'),
        "the operator of `rank(x) is 2`",
    ),
    "negative domain": (find("y = relu(x);", attributes='[domain = "-1"]'), "`-1` is not a domain"),
    "domain of NaN": (find("y = relu(x);", attributes='[domain = "nan"]'), "`nan` is not a domain"),
    "attribute without an input": (replaced("x", "y = relu(x);", '[z = "1"]'), "there is no attribute `z`"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake(case: str) -> None:
    text, message = WRONG[case]
    assert message in refused(text)


def test_syntax_errors_are_as_in_any_text() -> None:
    with pytest.raises(miltext.ParseError) as failure:
        RuleFile(RULE.replace("relu(relu(x))", "relu(relu(x"))
    assert failure.value.diagnostics[0].code.startswith("MIL0")


def test_unknown_names() -> None:
    with pytest.raises(miltext.MiltextError, match="did you mean `softmax`") as failure:
        rules_of("sofmax")
    assert failure.value.diagnostics[0].code == "MIL873"
    with pytest.raises(miltext.ModelError):
        rules_of("nowhere.mil")
    with pytest.raises(ValueError, match="no rules are given"):
        rules_of([])


def test_a_file_and_its_text_are_the_same_rules(tmp_path: Path) -> None:
    path = tmp_path / "rules.mil"
    path.write_text(RULE, encoding="utf-8")
    for given in (path, str(path), RULE):
        [rule] = patterns(rules_of(given))
        assert (rule.name, [op.type for op in rule.pattern.ops]) == ("twice", ["relu", "relu"])


def test_a_pattern_alone_is_found_and_does_not_rewrite() -> None:
    text = find("y = relu(relu(x));")
    program = "program(1.3)\n{\n    func main<ios17>(tensor<fp16, [2]> x) {\n y = relu(relu(x));\n } -> (y);\n}\n"
    [found] = miltext.find(program, text)
    assert (found.rule, found.value, found.names) == ("a", "y", {"x": "x"})
    with pytest.raises(miltext.ParseError, match="has no replacement"):
        miltext.rewrite(program, text)


# ---- advisories

ADVICE = (
    'consequence = "wrong", happens = "a", instead = "b", source = "https://c", systems = "d", versions = "e", '
    'seen = "any"'
)


def advised(attributes: str, more: str = "") -> str:
    return f"{HEAD}    func advise_a(x)[{attributes}] {{\n            y = relu(x);\n        }} -> (y);\n{more}}}\n"


def test_an_advisory_has_facts_and_no_replacement() -> None:
    [rule] = RuleFile(advised(f'{ADVICE}, fix = "b", where = "rank(x) == 2"')).rules
    assert (rule.name, rule.replacement, rule.advice["fix"], rule.advice["seen"]) == ("a", None, "b", "any")
    [ordinary] = RuleFile(RULE).rules
    assert ordinary.advice == {}


def test_an_incomplete_advisory_is_refused() -> None:
    assert "does not state `versions`" in refused(advised(ADVICE.replace('versions = "e", ', "")))
    assert "did you mean `seen`" in refused(advised(f'{ADVICE}, seem = "any"'))
    assert "there is no attribute `purpose`" in refused(advised(f'{ADVICE}, purpose = "any"'))


def test_a_name_belongs_to_one_rule() -> None:
    twice = "    func find_a(x) {\n            y = tanh(x);\n        } -> (y);\n"
    assert refused(advised(ADVICE, twice)) == "`advise_a` and `find_a` have one name: rename one of them"


def test_rules_of_one_name_are_refused_except_one_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "mine.mil"
    path.write_text(RULE, encoding="utf-8")
    assert len(rules_of([path, RULE, str(path)])) == 1
    assert len(rules_of(["cast_pair", "cast_pair", "dead-code", "dead-code"])) == 1 + 1
    for name, place in (("softmax", "a rule of softmax.mil"), ("twice", "a rule of another text")):
        text = RULE.replace("twice", name)
        other = text.replace("y = relu(x);", "y = exp(x);") if name == "twice" else name
        with pytest.raises(miltext.ParseError, match=f"{place} is also named `{name}`") as failure:
            rules_of([other, text])
        assert failure.value.diagnostics[0].span is not None
    assert [rule.name for rule in rules_of(RULE.replace("twice", "softmax"))] == ["softmax"]


def test_a_folder_is_not_a_rule_file_and_hides_no_packaged_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "casts").mkdir()
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    assert rules_of("casts")
    for given in ("mine", Path("casts")):
        with pytest.raises(miltext.MiltextError, match="is a folder, not a rule file") as failure:
            rules_of(given)
        assert failure.value.diagnostics[0].code == "MIL873"


def test_names_in_messages_are_as_the_user_writes_them() -> None:
    with pytest.raises(miltext.MiltextError, match="there is no rule `dead-cod`; did you mean `dead-code`"):
        rules_of("dead-cod")
    with pytest.raises(miltext.MiltextError, match="`dead-code` is a pass"):
        patterns(rules_of("dead-code"))


def test_the_extremes_of_constants_are_facts() -> None:
    rule = find("y = mul(x, c);", inputs="x, c", attributes='[where = "lowest(c) < -5 and highest(c) == 3"]')
    head = "program(1.3)\n{{\n    func main<ios17>(tensor<fp16, [2]> x) {{\n"
    text = head + "            y = mul(x, {});\n        }} -> (y);\n}}\n"
    assert len(miltext.find(text.format("[-6.0, 3.0]"), rule)) == 1
    assert miltext.find(text.format("[-4.0, 3.0]"), rule) == []
    assert miltext.find(text.format("x"), rule) == []
