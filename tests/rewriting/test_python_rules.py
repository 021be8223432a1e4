"""Rules in Python: one thing with rule files to `rewrite`, run only on request, and loud about mistakes."""

# ruff: noqa: E501 - in the tables, a case is a line

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.ir.graph import Graph
from miltext.rewriting.packaged import rules_of
from miltext.rewriting.results import Rewriting

HEAD = 'import miltext\n\nrules = "1"\n\n\n'

TWICE = f'''{HEAD}@miltext.rule(source="a test", purpose="relu twice is relu", systems="all")
def twice(graph):
    for op in graph.walk():
        above = op.operand("x") if op.type == "relu" else None
        maker = getattr(above, "maker", None)
        if op.block is not None and maker is not None and maker.type == "relu":
            reason = "" if len(above.uses) == 1 else "another use"
            yield miltext.RuleSite(op, lambda op=op, maker=maker: cut(op, maker), reason, [maker])


def cut(op, maker):
    op.set_input("x", maker.operand("x"))
    maker.remove()


example_twice = """
program(1.3) {{
    func main<ios17>(tensor<fp16, [2, 4]> x) {{ y = relu(relu(x)); }} -> (y);
}}
"""

keep_twice_other_use = """
program(1.3) {{
    func main<ios17>(tensor<fp16, [2, 4]> x) {{ a = relu(x); y = add(relu(a), a); }} -> (y);
}}
"""
'''

SWAP = f"""{HEAD}@miltext.rule()
def swap(graph):
    for op in [*graph.walk()]:
        if op.type == "relu":
            yield miltext.RuleSite(op, lambda op=op: {{}})
"""


def body_rule(body: str, name: str = "a", facts: str = "", given: str = "graph") -> str:
    """A rule file whose only function has a body for each relu `op`."""
    lines = "".join(f"            {line}\n" for line in body.splitlines())
    loop = "    for op in [*graph.walk()]:\n        if op.type == 'relu':\n"
    return f"{HEAD}@miltext.rule({facts})\ndef {name}({given}):\n{loop}{lines}"


def program(body: str, outputs: str = "y", inputs: str = "tensor<fp16, [2, 4]> x", opset: str = "ios17") -> str:
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n {body}\n }} -> ({outputs});\n}}\n"


RELU = program("y = relu(x);")


def types(made: Rewriting) -> list[str]:
    return [op.type for op in Graph(made.program).walk() if not op.is_constant]


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rules.py"


def rewritten(file: Path, text: str, source: str, **choices: object) -> Rewriting:
    file.write_text(text, encoding="utf-8")
    return miltext.rewrite(source, file, **choices)  # type: ignore[arg-type]


def refused(file: Path, text: str, source: str = RELU) -> tuple[str, str]:
    """The message of the error of a rule file, and the line that it names; empty without one."""
    with pytest.raises(miltext.MiltextError) as raised:
        rewritten(file, text, source)
    [found] = raised.value.diagnostics
    line = text[found.span.start : found.span.end] if found.span else ""
    return found.message, line


# ---- one thing with rule files


def test_sites_with_dispositions(file: Path) -> None:
    text = program("a = relu(relu(relu(x))); b = relu(exp(x)); c = relu(b); y = add(add(a, c), b);")
    made = rewritten(file, TWICE, text, verify=True)
    assert [(each.rule, each.value, each.removed, each.made) for each in made.replaced] == [
        ("twice", "a_x", ("relu",), ()),
        ("twice", "a", ("relu",), ()),
    ]
    assert [(each.value, each.reason, each.values) for each in made.refused] == [("c", "another use", ("b", "c"))]
    assert made.verified == 1
    assert types(made) == ["relu", "exp", "relu", "relu", "add", "add"]


def test_only_limit_and_a_second_run(file: Path) -> None:
    text = program("a = relu(relu(x)); b = relu(relu(exp(x))); y = add(a, b);")
    assert [each.value for each in rewritten(file, TWICE, text, only="b").replaced] == ["b"]
    assert [each.value for each in rewritten(file, TWICE, text, limit=1).replaced] == ["a"]
    with pytest.raises(miltext.MiltextError, match="no rule matches a site `nope`"):
        rewritten(file, TWICE, text, only="nope")
    made = rewritten(file, TWICE, text)
    assert miltext.rewrite(made.program, file).sites == []


def test_rules_of_both_kinds_wait_for_each_other(file: Path) -> None:
    """The rule of a draft is refused before, and applies after the change of the rule in Python."""
    draft = 'program(1.3)[rules = "1"] { func find_a(x) { y = exp(relu(x)); } -> (y); '
    draft += "func replace_a(x) { y = exp(x); } -> (y); }"
    text = program("a = relu(x); b = relu(a); y = exp(b); z = relu(b);", "y, z")
    assert [each.reason for each in miltext.rewrite(text, draft).refused] == ["`b` has another use, in `z`"]
    moved = "yield miltext.RuleSite(op, lambda: op.set_input('x', graph.functions['main'].inputs[0]))"
    file.write_text(body_rule(f"if op.operand('x').name == 'b':\n    {moved}", "moved"), encoding="utf-8")
    made = miltext.rewrite(text, [draft, file])
    assert [(each.rule, each.value) for each in made.replaced] == [("moved", "z"), ("a", "y"), ("a", "y")]
    assert made.refused == []


def test_several_functions_blocks_and_the_order_of_files(file: Path) -> None:
    one = program("z = cond(p) () { t = relu(relu(x)); } -> (t) () { u = tanh(x); } -> (u); y = relu(z);")
    one = one.replace("> x)", "> x, bool p)")
    made = rewritten(file, TWICE, one[:-2] + one[one.index("    func") : -2].replace("main", "other") + "}\n")
    assert [(each.function, each.value) for each in made.replaced] == [("main", "t"), ("other", "t")]
    assert [each.message for each in miltext.check(made.program) if each.severity == "error"] == []


def test_a_model_is_written_with_an_array_in_its_weight_file(file: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.arange(1024, dtype=np.float32).reshape(32, 32) / 64)
    (tmp_path / "m.mil").write_text(
        program('y = matmul(x, $npy("w.npy"));', inputs="tensor<fp32, [2, 32]> x"), encoding="utf-8"
    )
    miltext.build(tmp_path / "m.mil", tmp_path / "M.mlpackage")
    doubled = f"""{HEAD}@miltext.rule(exactness="rtol 2")
def doubled(graph, constants):
    for op in graph.walk():
        weight = constants.read(op.operand("y").maker, "val") if op.type == "matmul" else None
        if weight is not None and weight.max() < 16:
            yield miltext.RuleSite(op, lambda op=op, weight=weight: put(op, weight * 2, constants))


def put(op, array, constants):
    literal = constants.literal(array, in_file=True)
    old = op.operand("y")
    const = miltext.Op.new("const", {{}}, {{op.block.function.fresh("w"): old.type}}, {{"val": literal}})
    op.block.insert_before(op, const)
    op.set_input("y", const.outputs[0])
    old.maker.remove()
"""
    file.write_text(doubled, encoding="utf-8")
    done = miltext.rewrite(tmp_path / "M.mlpackage", file, tmp_path / "N.mlpackage")
    assert len(done.replaced) == 1
    [weight] = miltext.weights(tmp_path / "N.mlpackage").entries.values()
    assert weight.blob is not None
    given = {"x": np.ones((2, 32), np.float32)}
    before, after = (miltext.run(tmp_path / f"{name}.mlpackage", given)["y"] for name in "MN")
    assert (after == 2 * before).all()


def test_constants_are_read_with_their_defaults(file: Path) -> None:
    seen = body_rule(
        "top = op.operand('x').maker\nfound = (constants.read(top, 'transpose_y'), constants.read(top, 'x'))\n"
        "yield miltext.RuleSite(op, lambda: None, reason=str(found))",
        given="graph, constants",
    )
    text = program("y = relu(matmul(x, [[1.0], [2.0], [3.0], [4.0]]));")
    assert rewritten(file, seen, text).refused[0].reason == "(array(False), None)"
    message, line = refused(file, seen.replace("'transpose_y'", "'transposed'"), text)
    assert message == "`a` raised ValueError: `matmul` has no parameter `transposed`"
    assert line.startswith("found = ")


def test_the_verbs(file: Path, tmp_path: Path) -> None:
    file.write_text(TWICE, encoding="utf-8")
    model = tmp_path / "model.mil"
    model.write_text(program("y = relu(relu(x));"), encoding="utf-8")
    ended = run("rewrite", file, "softmax", model, "-o", tmp_path / "N.mlpackage", "--verify")
    assert ended.stdout.splitlines()[0] == "main/y: twice replaced: relu -> nothing"
    assert "1 replacement, 2 -> 1 operations; 1 different replacement proven" in ended.stdout
    tested = run("rewrite", "--test", file)
    assert tested.exit_code == 0, tested.output
    assert tested.stdout.startswith("twice: proven on ")
    assert "1 example, 1 near miss" in tested.stdout
    [listed] = json.loads(run("rewrite", "--list", file, "--json").stdout)["rules"]
    assert listed == {
        "name": "twice", "file": str(file), "purpose": "relu twice is relu", "source": "a test",
        "exactness": "exact", "systems": "all", "replaces": True,
    }  # fmt: skip
    assert run("rewrite", "--list", file).stdout.startswith(f"twice ({file})\n  purpose: relu twice is relu\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("relu(relu(x)); }", "exp(relu(x)); }"), "example_twice: the rule does not change it"),
        (("example_twice", "keep_twice"), "there is no example: add a text `example_twice`"),
        (("keep_twice_other_use", "example_twice_2"), "there is no near miss: add a text `keep_twice`"),
        (('maker.operand("x"))', "maker.block.function.inputs[0])\n    op.own().type = 'tanh'"), "was "),
        (("    maker.remove()", "    maker.remove()\n    raise KeyError('x')"), "`twice` raised KeyError: 'x'"),
        (("y = relu(relu(x));", "y = rely(relu(x));"), "example_twice: "),
        (("y = relu(relu(x));", "y = relu(relu(x);"), "example_twice: "),
    ],
)
def test_a_failed_test(file: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in TWICE
    file.write_text(TWICE.replace(*change), encoding="utf-8")
    ended = run("rewrite", "--test", file)
    assert ended.exit_code == 1
    assert message in ended.stdout


# ---- code is run only on request

LOUD = TWICE + 'raise SystemExit("it was run")\n'


def test_code_is_run_only_for_rewrite_and_test(file: Path, tmp_path: Path) -> None:
    file.write_text(LOUD, encoding="utf-8")
    model = tmp_path / "model.mil"
    model.write_text(RELU, encoding="utf-8")
    assert run("rewrite", "--list", file).exit_code == 0
    assert run("optimize", model, "--skip", file, "--dry-run").exit_code == 0
    found = run("find", file, model)
    assert found.exit_code == 1
    assert "`twice` is a rule in Python, which has no pattern" in found.stderr
    [rule] = rules_of(file)
    assert rule.purpose == "relu twice is relu"
    for arguments in (["rewrite", file, model, "--dry-run"], ["rewrite", "--test", file]):
        ended = run(*arguments)
        assert ended.exit_code == 1
        assert "the file raised SystemExit: it was run" in ended.stderr
        assert f"{file}:{LOUD.count(chr(10))}" in ended.stderr.replace(" ", "")


def test_the_code_is_run_once(file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    file.write_text(f"{TWICE}\nwith open({str(log)!r}, 'a') as out:\n    out.write('x')\n", encoding="utf-8")
    text = program("a = relu(relu(x)); y = exp(a);")
    miltext.rewrite(text, file, verify=True)
    assert log.read_text(encoding="utf-8") == "x"


# ---- mistakes that are seen without running

FIRST = "@miltext.rule()\ndef a(graph):\n    return []\n"


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("rules = '1'\ndef f(:\n", "the file is not Python: ", "def f(:"),
        (FIRST, "the file does not state its version", ""),
        ("rules = '2'\n" + FIRST, 'rules of version "2" cannot be read: this version of miltext reads version "1"', "rules = '2'"),
        ("rules = 1\n" + FIRST, "`rules` must be a string literal: it is read without running the file", "rules = 1"),
        ("rules = '1'\ndef a(graph):\n    pass\n", "the file has no rule: write `@miltext.rule()`", ""),
        ("rules = '1'\n" + FIRST + FIRST, "two rules have the name `a`", "def a(graph):"),
        ("rules = '1'\n@miltext.rule\ndef a(graph):\n    pass\n", "the decorator is not called", "@miltext.rule"),
        ("rules = '1'\n@rule('s')\ndef a(graph):\n    pass\n", "a fact of a rule must be a keyword argument", "@rule('s')"),
        ("rules = '1'\n@rule(**f)\ndef a(graph):\n    pass\n", "a fact of a rule must be a keyword argument", "@rule(**f)"),
        ("rules = '1'\n@rule(sauce='s')\ndef a(g):\n    pass\n", "there is no fact `sauce`; did you mean `source`?", "@rule(sauce='s')"),
        ("rules = '1'\n@rule(\n    source=S)\ndef a(g):\n    pass\n", "`source` must be a string literal", "source=S)"),
        ("rules = '1'\n@rule(exactness='ulps')\ndef a(g):\n    pass\n", "`ulps` is not a bound", "@rule(exactness='ulps')"),
        ("rules = '1'\n@rule(domain='x')\ndef a(g):\n    pass\n", "`x` is not a domain", "@rule(domain='x')"),
        ("rules = '1'\n@rule()\ndef a():\n    pass\n", "`a` must take the graph", "def a():"),
        ("rules = '1'\n@rule()\ndef a(g, c, d):\n    pass\n", "`a` must take the graph", "def a(g, c, d):"),
        ("rules = '1'\n@rule()\nasync def a(g):\n    pass\n", "`a` is asynchronous", "async def a(g):"),
        ("rules = '1'\n" + FIRST + "example_b = ''\n", "`example_b` belongs to no rule", "example_b = ''"),
        ("rules = '1'\n" + FIRST + "keep_a: str = f'{1}'\n", "`keep_a` must be a string literal", "keep_a: str = f'{1}'"),
        ("rules = '1'\r\n\r\n@rule\r\ndef a(g):\r\n    pass\r\n", "the decorator is not called", "@rule"),
        ("rules = '1'\n" + "(" * 5000, "the file is not Python: ", None),
    ],
)  # fmt: skip
def test_a_mistake_in_the_text(file: Path, text: str, message: str, line: str | None) -> None:
    file.write_bytes(text.encode())
    for attempt in (lambda: rules_of(file), lambda: miltext.rewrite(RELU, file)):
        with pytest.raises(miltext.ParseError) as raised:
            attempt()
        [found] = raised.value.diagnostics
        assert found.code == "MIL870"
        assert message in found.message
        assert (raised.value.text, raised.value.path) == (text, str(file))
        if line is not None:
            assert (text[found.span.start : found.span.end] if found.span else "") == line


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(miltext.ModelError, match=r"none\.py: error\[MIL250\]"):
        miltext.rewrite(RELU, tmp_path / "none.py")
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(miltext.MiltextError, match=r"error\[MIL873\]: `.*folder\.py` is a folder, not a rule file"):
        miltext.rewrite(RELU, tmp_path / "folder.py")
    for contents in (b"# \xe9\n", b"", b"rules = '1'\0\n"):
        (tmp_path / "other.py").write_bytes(contents)
        with pytest.raises(miltext.ModelError, match=r"other\.py: error\[MIL256\]"):
            miltext.rewrite(RELU, tmp_path / "other.py")


def test_rules_of_one_name_are_refused_except_in_one_file(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(TWICE, encoding="utf-8")
    (tmp_path / "c.py").write_text(TWICE.replace("a test", "another"), encoding="utf-8")
    draft = 'program(1.3)[rules = "1"] { func find_twice(x) { y = exp(x); } -> (y); }'
    (tmp_path / "d.mil").write_text(draft, encoding="utf-8")
    assert len(rules_of([tmp_path / "a.py", tmp_path / "b.py"])) == 1
    made = miltext.rewrite(program("y = relu(relu(relu(x)));"), [tmp_path / "a.py", tmp_path / "a.py"])
    assert types(made) == ["relu"]
    for several in (("a.py", "c.py"), ("a.py", "d.mil"), ("d.mil", "a.py")):
        with pytest.raises(miltext.ParseError, match=f"{several[0]} is also named `twice`") as failure:
            rules_of([tmp_path / name for name in several])
        assert failure.value.path == str(tmp_path / several[1])
        [found] = failure.value.diagnostics
        assert found.span is not None


def test_no_model_is_written_over_a_rule_file(file: Path, tmp_path: Path) -> None:
    file.write_text(TWICE, encoding="utf-8")
    link = tmp_path / "out.mil"
    link.hardlink_to(file)
    with pytest.raises(miltext.ModelError, match="MIL4"):
        miltext.rewrite(RELU, file, link, force=True)
    assert file.read_text(encoding="utf-8") == TWICE


# ---- mistakes that only running shows


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (f"import nowhere_at_all\n{SWAP}", "the file raised ModuleNotFoundError: No module named 'nowhere_at_all'", "import nowhere_at_all"),
        (body_rule("op.nothing"), "`a` raised AttributeError: 'Op' object has no attribute 'nothing'", "op.nothing"),
        (f"{HEAD}@miltext.rule()\ndef a(graph):\n    graph.walk()\n", "`a` raised TypeError: a rule yields sites, but it returned NoneType", "@miltext.rule()"),
        (body_rule("yield op"), "`a` raised TypeError: a rule yields miltext.RuleSite, not Op", "yield op"),
        (body_rule("yield miltext.RuleSite(op, None)"), "the change of a site must be a function without arguments", "yield miltext.RuleSite(op, None)"),
        (body_rule("yield miltext.RuleSite(3, op.remove)"), "a site consists of operations, not of int", "yield miltext.RuleSite(3, op.remove)"),
        (body_rule("yield miltext.RuleSite(op, op.remove)"), "`a` raised GraphError: `y` is still used", ""),
        (body_rule("op.detach()\nyield miltext.RuleSite(op, print)"), "<Op y = relu> of a site is in no block", "yield miltext.RuleSite(op, print)"),
        (body_rule("yield miltext.RuleSite(op, lambda: 1 / 0)"), "`a` raised ZeroDivisionError: division by zero", "yield miltext.RuleSite(op, lambda: 1 / 0)"),
        (body_rule("yield miltext.RuleSite(op, lambda: miltext.parse('x'))"), "`a` raised ParseError: ", "yield miltext.RuleSite(op, lambda: miltext.parse('x'))"),
        (body_rule("raise ValueError('one\\ntwo')"), "`a` raised ValueError: one", "raise ValueError('one\\ntwo')"),
        (f"{HEAD}@miltext.rule()\ndef a(graph):\n    return a(graph)\n", "`a` raised RecursionError: ", "return a(graph)"),
        (f"{SWAP}\ndel swap\n", "`swap` raised AttributeError: ", ""),
    ],
)  # fmt: skip
def test_an_exception_is_an_error_at_its_line(file: Path, text: str, message: str, line: str) -> None:
    said, place = refused(file, text)
    assert message in said
    assert place == line


def test_nothing_is_written_after_an_exception_in_the_middle(file: Path, tmp_path: Path) -> None:
    file.write_text(
        TWICE.replace("maker.remove()", "maker.remove()\n    1 / (op.outputs[0].name != 'b')"), encoding="utf-8"
    )
    model = tmp_path / "model.mil"
    text = program("a = relu(relu(x)); b = relu(relu(exp(x))); y = add(a, b);")
    model.write_text(text, encoding="utf-8")
    before = miltext.parse(miltext.infer_draft(text))
    kept = before.SerializeToString(deterministic=True)
    for name in ("N.mlpackage", "n.mil"):
        ended = run("rewrite", file, model, "-o", tmp_path / name)
        assert ended.exit_code == 1
        assert "`twice` raised ZeroDivisionError" in ended.stderr
        assert "Traceback" not in ended.stderr
        assert not (tmp_path / name).exists()
    with pytest.raises(miltext.ParseError):
        miltext.rewrite(before, file)
    assert before.SerializeToString(deterministic=True) == kept


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("op.own().__setattr__('type', 'add')", "`add` lacks `y`"),
        ("setattr(op.outputs[0], 'type', op.outputs[0].type._replace(dtype='fp32'))", "names or types of the inputs and outputs"),
        ("setattr(op.outputs[0], 'name', 'z')", "names or types of the inputs and outputs of `main`"),
        ("graph.functions['main'].add_input('more', op.outputs[0].type)", "names or types of the inputs and outputs of `main`"),
        ("op.set_input('x', miltext.Op.new('relu', {}, {'q': op.outputs[0].type}).outputs[0])", "a rule leaves a wrong graph: "),
        ("op.set_input('x', op.outputs[0])", "`y`"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("output", [None, "N.mlpackage", "n.mil"])
def test_an_invalid_program_is_refused(
    file: Path, tmp_path: Path, change: str, message: str, output: str | None
) -> None:
    once = f"if not done:\n    done.append(op)\n    yield miltext.RuleSite(op, lambda: {change})"
    file.write_text(body_rule(once) + "\n\ndone = []\n", encoding="utf-8")
    with pytest.raises(miltext.MiltextError) as raised:
        miltext.rewrite(RELU, file, None if output is None else tmp_path / output)
    assert any(message in each.message for each in raised.value.diagnostics)
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize(
    "body",
    [
        "yield miltext.RuleSite(op, lambda: None)",
        "while True:\n    yield miltext.RuleSite(op, lambda: None)",
        "while True:\n    yield miltext.RuleSite(op, lambda: None, 'never')",
        "yield miltext.RuleSite(op, lambda: again(op))",
    ],
)
def test_a_rule_that_never_rests(file: Path, body: str) -> None:
    again = """

def again(op):
    new = op.copy()
    op.block.insert_before(op, new)
    op.replace_by(*new.outputs)
"""
    message, _ = refused(file, body_rule(body) + again)
    assert message.startswith("the rules never come to rest: after ")
    assert "`a` still apply" in message


def test_a_rule_that_changes_nothing(file: Path) -> None:
    before = miltext.parse(miltext.infer_draft(RELU))
    file.write_text(TWICE, encoding="utf-8")
    made = miltext.rewrite(before, file, verify=True)
    assert (made.sites, made.program, made.verified) == ([], before, 0)


def test_a_site_that_cannot_be_proven_alone(file: Path) -> None:
    hidden = TWICE.replace(", [maker])", ")")
    with pytest.raises(miltext.MiltextError, match="cannot be proven at `y`") as raised:
        rewritten(file, hidden, program("y = relu(relu(x));"), verify=True)
    [found] = raised.value.diagnostics
    assert found.code == "MIL872"
    assert len(rewritten(file, hidden, program("y = relu(relu(x));")).replaced) == 1


def test_a_replacement_that_is_not_exact(file: Path) -> None:
    wrong = body_rule("yield miltext.RuleSite(op, lambda: op.own().__setattr__('type', 'abs'))")
    with pytest.raises(miltext.MiltextError, match="is not as exact as declared at `y`"):
        rewritten(file, wrong, RELU, verify=True)
    assert types(rewritten(file, wrong, RELU)) == ["abs"]


SPOIL = """

def spoil(graph):
    for op in graph.walk():
        if op.type == "exp" and op.operand("x").maker:
            op.set_input("x", op.operand("x").maker.operand("x"))
"""


def test_all_functions_are_proven_after_a_rule_in_python(file: Path) -> None:
    bodies = {"main": "relu(relu(x))", "other": "exp(relu(x))"}
    text = "".join(
        f"func {name}<ios17>(tensor<fp16, [2, 4]> x) {{ y = {body}; }} -> (y);" for name, body in bodies.items()
    )
    file.write_text(TWICE, encoding="utf-8")
    made = miltext.rewrite(f"program(1.3) {{ {text} }}", file, verify=True)
    assert [each.function for each in made.replaced] == ["main"]
    assert [(each.function, each.is_equal) for each in made.functions or ()] == [("main", True), ("other", True)]
    wrong = TWICE.replace("lambda op=op, maker=maker: cut(op, maker)", "lambda: (cut(op, maker), spoil(graph))")
    file.write_text(f"{wrong}{SPOIL}", encoding="utf-8")
    with pytest.raises(miltext.MiltextError, match=r"MIL872.*changes the function `other`"):
        miltext.rewrite(f"program(1.3) {{ {text} }}", file, verify=True)


def test_a_file_with_a_dataclass_and_a_helper(file: Path) -> None:
    text = f"""from __future__ import annotations

from dataclasses import dataclass

{SWAP}

@dataclass
class Found:
    name: str
"""
    file.write_text(text.replace("lambda op=op: {}", "lambda op=op: {}, Found('no').name"), encoding="utf-8")
    assert [each.reason for each in miltext.rewrite(RELU, file).refused] == ["no"]
