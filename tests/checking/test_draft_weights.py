"""Weights in drafts: where they may stand, what `infer` makes of them, the types that files give, and odd files."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pytest
from support.array_files import npy_of

import miltext
from miltext import ParseError, format_text, infer_draft
from miltext.arrays import opening
from miltext.checking.arrays import Arrays
from miltext.checking.drafts import draft_types
from miltext.parsing.recovery import recover
from miltext.parsing.strict import strict_findings

if TYPE_CHECKING:
    from miltext.arrays.headers import Headers

INPUTS = "tensor<fp16, [1, 4, 8, 8]> x"
WEIGHT = "tensor<fp16, [6, 4, 1, 1]>"
BIAS = "tensor<fp16, [6]>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of each kind."""
    safetensors = pytest.importorskip("safetensors.numpy")
    weight = np.arange(24, dtype=np.float16).reshape(6, 4, 1, 1)
    np.save(tmp_path / "w.npy", weight)
    np.save(tmp_path / "w32.npy", weight.astype(np.float32))
    np.save(tmp_path / "w64.npy", weight.astype(np.float64))
    np.save(tmp_path / "i64.npy", np.array([3, 0], np.int64))
    np.save(tmp_path / "scale.npy", np.float16(0.5))
    np.savez(tmp_path / "a.npz", w=weight, b=np.ones(6, np.float16), w32=weight.astype(np.float32))
    safetensors.save_file({"layer.0.weight": weight, "bias": np.ones(6, np.float16)}, tmp_path / "m.safetensors")
    return tmp_path


def program(*lines: str, inputs: str = INPUTS, outputs: str = "y") -> str:
    body = "".join(f"            {line}\n" for line in lines)
    return f"program(1.3)\n{{\n    func main<ios18>({inputs}) {{\n{body}        }} -> ({outputs});\n}}\n"


def at(folder: Path) -> str:
    return str(folder / "d.mil")


def inferred(folder: Path, *lines: str, inputs: str = INPUTS, outputs: str = "y") -> list[str]:
    """The operations that `infer` makes of these."""
    text = infer_draft(program(*lines, inputs=inputs, outputs=outputs), path=at(folder))
    assert infer_draft(text, path=at(folder)) == text
    assert miltext.check(text, path=at(folder)) == []
    return [line.strip() for line in text.splitlines()[3:-2]]


def told(text: str, folder: Path | None, severity: str = "error") -> list[tuple[str, str]]:
    """The code of each finding, and the text at its place."""
    found = [each for each in miltext.check(text, path=at(folder) if folder else None) if each.severity == severity]
    return [(each.code, text[each.span.start : each.span.end]) for each in found if each.span]


# ---- where a weight may stand, and what is made of it


def test_weight_as_argument_becomes_constant_before_statement(folder: Path) -> None:
    lines = inferred(
        folder,
        "z = relu(x);",
        'y = mul(silu(conv(z, $npy("w.npy"), bias = $npz("a.npz", "b"))), $npy("scale.npy"));',
    )
    assert lines == [
        "tensor<fp16, [1, 4, 8, 8]> z = relu(x = x);",
        f'{WEIGHT} y_x_x_weight = const()[val = {WEIGHT}($npy("w.npy"))];',
        'tensor<fp16, [6]> y_x_x_bias = const()[val = tensor<fp16, [6]>($npz("a.npz", "b"))];',
        "tensor<fp16, [1, 6, 8, 8]> y_x_x = conv(bias = y_x_x_bias, weight = y_x_x_weight, x = z);",
        "tensor<fp16, [1, 6, 8, 8]> y_x = silu(x = y_x_x);",
        'fp16 y_y = const()[val = fp16($npy("scale.npy"))];',
        "tensor<fp16, [1, 6, 8, 8]> y = mul(x = y_x, y = y_y);",
    ]


ARRAYS = {
    '$npy("w.npy")': WEIGHT,
    '$npz("a.npz", "w")': WEIGHT,
    '$safetensors("m.safetensors", "layer.0.weight")': WEIGHT,
    'fp16 $npy("w32.npy")': WEIGHT,
    'fp16 $npz("a.npz", "w32")': WEIGHT,
    'fp32 $safetensors("m.safetensors", "layer.0.weight")': WEIGHT.replace("fp16", "fp32"),
}


@pytest.mark.parametrize(("array", "kind"), ARRAYS.items())
def test_a_weight_may_replace_any_literal_without_a_type(folder: Path, array: str, kind: str) -> None:
    constant = f"{kind} {{}} = const()[val = {kind}({array})];"
    x = f"{kind} x"
    for argument in (array, f"({array})"):
        assert inferred(folder, f"y = add(x, {argument});", inputs=x)[0] == constant.format("y_y")
        assert inferred(folder, f"y = add(y = {argument}, x = x);", inputs=x)[0] == constant.format("y_y")
    tuples = inferred(folder, f"y = concat((x, {array}, x, {array}), axis = 0);", inputs=x)
    assert tuples[:2] == [constant.format("y_values_1"), constant.format("y_values_3")]
    for written in ("", "_ ", f"{kind} "):
        assert inferred(folder, f"{written}w = const()[val = {array}];", "y = add(x, w);", inputs=x)[0] == (
            constant.format("w")
        )
    assert inferred(folder, f"y = relu(x)[scale = {array}];", inputs=x) == [
        f"{kind} y = relu(x = x)[scale = {kind}({array})];"
    ]


def test_a_weight_in_an_inner_block_stays_there(folder: Path) -> None:
    lines = inferred(
        folder,
        "y = cond(pred = p)",
        '() { a = mul(x, $npy("scale.npy")); } -> (a)',
        '() { b = relu(mul(x, $npy("scale.npy"))); } -> (b);',
        inputs=f"{INPUTS}, bool p",
    )
    assert [line.partition(" = ")[0].split()[-1] for line in lines if "$npy" in line] == ["a_y", "b_x_y"]
    assert lines.index('fp16 a_y = const()[val = fp16($npy("scale.npy"))];') == 2


def test_names_are_new_and_the_same_in_every_run(folder: Path) -> None:
    lines = ["y_y = relu(x);", 'z = mul(y_y, $npy("scale.npy"));', 'y = mul(z, $npy("scale.npy"));']
    first = inferred(folder, *lines)
    assert first == inferred(folder, *lines)
    assert [line.split()[1] for line in first if "$npy" in line] == ["z_y", "y_y_1"]


def test_functions_have_weights_of_their_own(folder: Path) -> None:
    one = f'func a<ios18>({INPUTS}) {{ y = mul(x, $npy("scale.npy")); }} -> (y);'
    text = infer_draft(f"program(1.3) {{ {one} {one.replace('func a', 'func b')} }}", path=at(folder))
    assert text.count("const()") == 2
    assert miltext.check(text, path=at(folder)) == []


def test_a_typed_array_as_an_argument_is_lifted_in_a_draft_alone(folder: Path) -> None:
    typed = 'tensor<fp16, [6, 4, 1, 1]>(fp16 $npz("a.npz", "w32"))'
    assert (
        inferred(folder, f"_ y = conv(x = x, weight = {typed});")[0] == f"{WEIGHT} y_weight = const()[val = {typed}];"
    )
    whole = program(f"tensor<fp16, [1, 6, 8, 8]> y = conv(weight = {typed}, x = x);")
    assert infer_draft(whole, path=at(folder)) == whole
    broken = whole.replace("x = x);", "x = x)", 1)
    assert [code for code, _ in told(broken, folder)] == ["MIL010"]
    assert [found.code for found in miltext.check(broken, path=at(folder))] == ["MIL010"]  # it is not a draft


# ---- records


BLOB = 'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64))'


def test_a_record_is_written_out_where_it_has_a_type(tmp_path: Path) -> None:
    text = program(
        f'{WEIGHT} w = const()[val = $blob("weights/weight.bin", 64)];',
        f'{WEIGHT} v = const()[val = {WEIGHT}($blob("weights/weight.bin", 64))];',
        f'y = conv(x, {WEIGHT}($blob("@model_path/weights/weight.bin", 64)), bias = {BIAS}($blob("@b", 128)));',
    )
    lines = [line.strip() for line in infer_draft(text).splitlines()[3:-2]]
    assert lines[:4] == [
        f"{WEIGHT} w = const()[val = {WEIGHT}({BLOB})];",
        f"{WEIGHT} v = const()[val = {WEIGHT}({BLOB})];",
        f"{WEIGHT} y_weight = const()[val = {WEIGHT}({BLOB})];",
        f'{BIAS} y_bias = const()[val = {BIAS}(BLOBFILE(path = string("@b"), offset = uint64(128)))];',
    ]
    miltext.parse(infer_draft(text))


@pytest.mark.parametrize(
    "line",
    [
        'y = add(x, $blob("w.bin", 64));',
        'y = add(x = x, y = $blob("w.bin", 64));',
        'y = concat((x, $blob("w.bin", 64)), axis = 0);',
        'y = relu(add(x, $blob("w.bin", 64)));',
        'y = const()[val = $blob("w.bin", 64)];',
        '_ y = const()[val = $blob("w.bin", 64)];',
        f'{INPUTS[:-2]} y = relu(x = x)[val = $blob("w.bin", 64)];',
        f'{INPUTS[:-2]} y = relu(x = x)[name = $blob("w.bin", 64)];',
    ],
)
def test_a_record_without_a_type_is_one_error(line: str) -> None:
    text = program(line, "z = relu(y);", outputs="z")
    assert told(text, None) == [("MIL116", '$blob("w.bin", 64)')]


def test_a_record_that_is_wrong_is_reported_at_the_record() -> None:
    for wrong in ('$blob("w.bin", 0.5)', '$blob("w.bin", -64)', '$blob("w\\q.bin", 64)'):
        text = program(f"{WEIGHT} w = const()[val = {wrong}];", "y = relu(x);")
        [(_, place)] = told(text, None)
        assert place in wrong
    outside = f'program(1.3) [a = $blob("w", 64), b = {WEIGHT}($blob("w", 64))] {{ }}'
    assert told(outside, None) == [("MIL116", '$blob("w", 64)')]


# ---- types that follow, and do not


def test_array_of_another_data_type_is_reported_with_conversion(folder: Path) -> None:
    for line, (code, array, asked) in {
        'y = conv(x, $npy("w64.npy"));': ("MIL505", '$npy("w64.npy")', "fp16"),
        'y = relu(conv(x, weight = $npy("w64.npy")));': ("MIL505", '$npy("w64.npy")', "fp16"),
        'y = mul(x, $npz("a.npz", "w32"));': ("MIL506", '$npz("a.npz", "w32")', "fp16"),
        'y = gather(x, $npy("i64.npy"), axis = 1);': ("MIL505", '$npy("i64.npy")', "int32"),
        f'{WEIGHT} w = const()[val = $npy("w32.npy")]; y = conv(x, w);': ("MIL412", '$npy("w32.npy")', "fp16"),
        'y = mul(x, $npy("i64.npy"));': ("MIL505", '$npy("i64.npy")', "fp16"),
        'y = transpose(x, perm = $npy("w64.npy"));': ("MIL505", '$npy("w64.npy")', "int32"),
        'y = concat((x, $npy("w32.npy")), axis = 0);': ("MIL506", '$npy("w32.npy")', "fp16"),
    }.items():
        text = program(line)
        [found] = [each for each in miltext.check(text, path=at(folder)) if each.severity == "error"]
        assert found.span
        assert (found.code, text[slice(*found.span)]) == (code, array)
        assert found.suggestion == f"{asked} {array}"
        assert f"`{asked} {array}`" in found.message
        mended = text[: found.span.start] + found.suggestion + text[found.span.end :]
        assert not {"MIL412", "MIL505", "MIL506"}.intersection(each for each, _ in told(mended, folder))


def test_a_written_constant_is_reported_at_its_array(folder: Path) -> None:
    text = program('w = const()[val = $npy("w64.npy")];', "a = relu(x);", "y = conv(a, w);")
    [found] = [each for each in miltext.check(text, path=at(folder)) if each.severity == "error"]
    assert found.span
    assert text[slice(*found.span)] == '$npy("w64.npy")'
    [note] = found.notes
    assert note.span
    assert text[note.span.start - len("conv(a, ") : note.span.end] == "conv(a, w"


def test_an_array_of_another_shape_than_is_written(folder: Path) -> None:
    wrong = 'tensor<fp16, [5, 4, 1, 1]> w = const()[val = $npy("w.npy")];'
    assert told(program(wrong, "y = relu(x);"), folder) == [("MIL412", '$npy("w.npy")')]
    typed = 'w = const()[val = tensor<fp16, [5, 4, 1, 1]>($npy("w.npy"))];'
    assert [code for code, _ in told(program(typed, "y = relu(x);"), folder)] == ["MIL412"]
    unknown = 'tensor<fp16, [?, 4, 1, 1]> w = const()[val = $npy("w.npy")];'
    assert [code for code, _ in told(program(unknown, "y = relu(x);"), folder)] == ["MIL611"]
    listed = 'list<fp16, 2> w = const()[val = $npy("w.npy")];'
    assert told(program(listed, "y = relu(x);"), folder) == [("MIL412", '$npy("w.npy")')]


@pytest.mark.parametrize(("rank", "codes"), [(1000, []), (1001, ["MIL414"]), (2000, ["MIL414"])])
def test_array_with_too_many_dimensions_is_reported_at_its_file(rank: int, codes: list[str], folder: Path) -> None:
    (folder / "r.npy").write_bytes(npy_of((1,) * rank, bytes(4)))
    for line in ('w = const()[val = $npy("r.npy")];', 'a = identity(x = $npy("r.npy"));'):
        text = program(line, "y = relu(x);")
        assert told(text, folder) == [(code, '$npy("r.npy")') for code in codes]
        errors = [each for each in miltext.check(text, path=at(folder)) if each.severity == "error"]
        assert all(f"has {rank} dimensions" in each.message for each in errors)


def test_a_conversion_that_is_written_as_a_scalar(folder: Path) -> None:
    def said(line: str) -> str:
        found = miltext.check(program(line, "y = relu(x);"), path=at(folder))
        [error] = [each for each in found if each.severity == "error"]
        assert (error.code, error.suggestion) == ("MIL412", None)
        return error.message

    for name, way in (("w32", 'fp16 $npy("w32.npy")'), ("w", '$npy("w.npy")')):
        for line in ('z = mul(x, fp16($npy("{}.npy")));', 'w = const()[val = fp16($npy("{}.npy"))];'):
            assert said(line.format(name)).endswith(f"but the value has []; a conversion is written `{way}`")
    assert "conversion" not in said('fp16 w = const()[val = $npy("w.npy")];')
    assert "conversion" not in said('w = const()[val = tensor<fp16, [2]>($npy("w32.npy"))];')


def test_the_text_of_a_folder_with_a_draft_is_whole(folder: Path) -> None:
    """A scalar is of rank 0, integers may be checked as what they are."""
    assert inferred(folder, 's = const()[val = $npy("scale.npy")];', "y = mul(x, s);")[0].startswith("fp16 s = ")
    assert inferred(folder, 'y = gather(x, int32 $npy("i64.npy"), axis = 1);')[0] == (
        'tensor<int32, [2]> y_indices = const()[val = tensor<int32, [2]>(int32 $npy("i64.npy"))];'
    )


def test_values_of_arrays_are_not_read(folder: Path) -> None:
    """What has to be known for a type to follow is written."""
    [(code, _)] = told(program('y = reduce_sum(x, int32 $npy("i64.npy"), keep_dims = false);'), folder)
    assert code == "MIL711"


# ---- files that are not there, or are not what they should be


def odd_files(folder: Path) -> dict[str, str]:
    """Names of odd files, and the codes that they get."""
    (folder / "empty.npy").write_bytes(b"")
    (folder / "text.npy").write_text("not an array")
    np.save(folder / "nothing.npy", np.zeros((0, 4), np.float16))
    (folder / "folder.npy").mkdir()
    np.save(folder / "objects.npy", np.array([{}], object), allow_pickle=True)
    (folder / "lies.npy").write_bytes((folder / "w.npy").read_bytes()[:-1])
    os.mkfifo(folder / "fifo.npy")
    np.save(folder.parent / "outside.npy", np.zeros(1, np.float16))
    return {
        "missing.npy": "MIL413",
        "empty.npy": "MIL414",
        "text.npy": "MIL414",
        "nothing.npy": "MIL414",
        "folder.npy": "MIL413",
        "fifo.npy": "MIL413",
        "objects.npy": "MIL415",
        "lies.npy": "MIL414",
        "../outside.npy": "MIL413",
        str(folder / "w.npy"): "MIL413",
        "": "MIL413",
    }


def test_an_unavailable_array_is_a_single_error(folder: Path) -> None:
    for name, code in odd_files(folder).items():
        array = f'$npy("{name}")'
        for line in (f"w = const()[val = {array}];", f"{WEIGHT} w = const()[val = {array}];"):
            text = program(line, "a = conv(x, w);", "b = relu(a);", "y = add(b, 1);")
            assert told(text, folder) == [(code, array)], name
        nested = program(f"a = relu(conv(x, {array}));", "y = add(relu(a), tanh(x));", "z = add(y, y);", outputs="z")
        assert told(nested, folder) == [(code, array)]
        with pytest.raises(ParseError):
            infer_draft(nested, path=at(folder))


def test_a_file_is_reported_once_and_others_are_still_checked(folder: Path) -> None:
    text = program(
        'a = conv(x, $npy("missing.npy"));',
        'b = conv(x, fp16 $npy("missing.npy"));',
        'c = conv(x, $npz("a.npz", "nothing"));',
        'd = conv(x, $npy("w64.npy"));',
        "y = reduce_sum(x, axes = [9]);",
        "z = add(a, b);",
        outputs="y, z",
    )
    assert [code for code, _ in told(text, folder)] == ["MIL413", "MIL416", "MIL505", "MIL516"]


def test_a_missing_folder_of_a_text_is_reported_once() -> None:
    text = program('a = conv(x, $npy("w.npy"));', 'b = relu(mul(x, $npy("v.npy")));', "y = reduce_sum(x, axes = [9]);")
    assert told(text, None) == [("MIL111", '$npy("w.npy")'), ("MIL516", "[9]")]
    with pytest.raises(ParseError, match="MIL111"):
        infer_draft(text)


def test_a_header_is_read_once_for_a_check(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counting(kind: str, reader: opening.Reader) -> opening.Reader:
        def counted(file: BinaryIO) -> Headers:
            read.append(kind)
            return reader(file)

        return counted

    for kind, reader in [*opening.READERS.items()]:
        monkeypatch.setitem(opening.READERS, kind, counting(kind, reader))
    uses = [
        line
        for index in range(50)
        for line in (
            f'a{index} = conv(x, $npy("w.npy"));',
            f'b{index} = conv(x, $npz("a.npz", "w"), bias = $npz("a.npz", "b"));',
            f'c{index} = conv(x, $safetensors("m.safetensors", "layer.0.weight"));',
        )
    ]
    assert told(program(*uses, "y = relu(x);"), folder) == []
    assert sorted(read) == ["$npy", "$npz", "$safetensors"]


def test_a_file_that_changes_is_seen_by_the_next_check(folder: Path) -> None:
    text = program('y = mul(x, $npy("scale.npy"));')
    assert told(text, folder) == []
    np.save(folder / "scale.npy", np.float64(1))
    assert told(text, folder) == [("MIL505", '$npy("scale.npy")')]
    (folder / "scale.npy").unlink()
    assert told(text, folder) == [("MIL413", '$npy("scale.npy")')]


def test_names_of_files_are_any_below_the_folder(folder: Path) -> None:
    (folder / "größe ✓").mkdir()
    np.save(folder / "größe ✓" / "w.npy", np.float16(1))
    for name in ("größe ✓/w.npy", "./größe ✓/w.npy", "größe \\u{2713}/w.npy"):
        assert told(program(f'y = mul(x, $npy("{name}"));'), folder) == []


@pytest.mark.parametrize(
    ("written", "meant"), [('half $npy("w.npy")', "fp16"), ('npy("w.npy")', "$npy"), ('$numpy("w.npy")', "$npy")]
)
def test_a_slip_in_the_word_is_reported_with_the_meaning(written: str, meant: str, folder: Path) -> None:
    text = program(f"y = conv(x, {written});")
    [found] = [each for each in miltext.check(text, path=at(folder)) if each.severity == "error"]
    assert found.suggestion == meant
    assert f"did you mean `{meant}`?" in found.message


@pytest.mark.parametrize("value", ['$blob("w", 64)', '$npy("\\q")', 'fp16 $npz("a.npz", "w")', '[$npy("\\q")]'])
def test_a_weight_in_a_statement_that_breaks_off_is_passed_over(value: str, folder: Path) -> None:
    for broken in (
        f"w = const()[val = {value}] x;",
        f"w = mul(x, {value}) x;",
        f"a = relu(x) {{ w = op(a = {value}); }}",
    ):
        found = told(program(broken, "y = relu(x);"), folder)
        assert {"MIL010"} <= {code for code, _ in found} <= {"MIL010", "MIL023"}


# ---- comments and line ends


@pytest.mark.any_version
def test_comments_in_every_gap_are_kept_and_change_nothing(folder: Path) -> None:
    tokens = (
        'y = conv ( x , fp16 $npz ( "a.npz" , "w" ) , bias = tensor < fp16 , [ 6 ] > ( $npy ( "b.npy" ) ) ) ;'.split()
    )
    np.save(folder / "b.npy", np.ones(6, np.float16))
    plain = infer_draft(program(" ".join(tokens)), path=at(folder))
    for gap, comment in product(range(1, len(tokens)), ("/* kept */", "// kept\n")):
        text = program(" ".join([*tokens[:gap], comment, *tokens[gap:]]))
        formatted = format_text(text)
        assert "kept" in formatted
        assert format_text(formatted) == formatted
        made = infer_draft(text, path=at(folder))
        assert made.count("kept") == 1, (gap, made)
        without = made.replace("/* kept */", "").replace("// kept", "")
        assert "".join(without.split()) == "".join(plain.split())


def test_line_ends_stay(folder: Path) -> None:
    text = program('y = conv(x, $npy("w.npy"));')
    made = infer_draft(text.replace("\n", "\r\n"), path=at(folder))
    assert made == infer_draft(text, path=at(folder)).replace("\n", "\r\n")


# ---- what takes no drafts


@pytest.mark.parametrize(
    ("line", "code", "place"),
    [
        (f'{WEIGHT} y = relu(x = $npy("w.npy"));', "MIL112", '$npy("w.npy")'),
        (f'{WEIGHT} y = concat(values = (x, fp16 $npz("a", "b")));', "MIL112", 'fp16 $npz("a", "b")'),
        (f'{WEIGHT} y = const()[val = $safetensors("a", "b")];', "MIL112", '$safetensors("a", "b")'),
        (f'{WEIGHT} y = const()[val = $blob("a", 64)];', "MIL112", '$blob("a", 64)'),
        (f'{WEIGHT} y = relu(x = $blob("a", 64));', "MIL112", '$blob("a", 64)'),
        (f'{WEIGHT} y = const()[val = {WEIGHT}($blob("a", 64))];', "MIL113", "$blob"),
        (f'{WEIGHT} y = const()[val = {WEIGHT}(fp16 $npz("a", "b"))];', "MIL111", "fp16"),
    ],
)
def test_parse_and_strict_refuse_them(line: str, code: str, place: str) -> None:
    text = program(line)
    with pytest.raises(ParseError) as refused:
        miltext.parse(text)
    [found] = refused.value.diagnostics
    assert found.span
    assert (found.code, text[slice(*found.span)]) == (code, place)
    assert "miltext infer" in found.message or code == "MIL111"
    assert {each.code for each in strict_findings(text)} >= {"MIL203"}


@pytest.mark.parametrize("literal", ['[$npy("w.npy")]', '[1, fp16 $npy("w.npy")]', '[[1], [$blob("w", 64)]]'])
def test_no_weight_is_inside_a_list(literal: str, folder: Path) -> None:
    [(code, place)] = told(program(f"y = add(x, {literal});"), folder)
    assert (code, place in literal) == ("MIL105", True)


@pytest.mark.parametrize(
    ("phrase", "code"),
    [
        ('$npz("a.npz")', "MIL025"),
        ('$npy("a.npy", "key")', "MIL025"),
        ("$npy()", "MIL010"),
        ('$npy["a.npy"]', "MIL010"),
        ('$safetensors("m")', "MIL025"),
        ('$blob("w.bin")', "MIL010"),
        ("$npy", "MIL010"),
        ('fp16 fp16 $npy("w")', "MIL010"),
        ('fp16 $blob("w", 64)', "MIL010"),
        ('tensor<fp16, [1]> $npy("w")', "MIL010"),
    ],
)
def test_an_invalid_phrase_is_one_error(phrase: str, code: str, folder: Path) -> None:
    found = told(program(f"a = add(x, {phrase});", "y = relu(x);"), folder)
    assert [each for each, _ in found] == [code]


# ---- beside other things that are left out


def test_an_elided_literal_beside_a_weight(folder: Path) -> None:
    text = program(
        f'{WEIGHT} w = const()[val = {WEIGHT}($elided(24, "sha256:00"))];',
        'y = conv(conv(x, $npy("square.npy")), w);',
    )
    np.save(folder / "square.npy", np.zeros((4, 4, 1, 1), np.float16))
    assert told(text, folder) == []
    assert ("MIL107", "$elided") in told(text, folder, "note")
    assert f'{WEIGHT} w = const()[val = {WEIGHT}($elided(24, "sha256:00"))];' in infer_draft(text, path=at(folder))


def test_inferred_types_are_written_at_their_places(folder: Path) -> None:
    text = program('y = relu(mul(x, fp16 $npz("a.npz", "w32")));', inputs=WEIGHT + " x")
    read = recover(text)
    edits = draft_types(read, Arrays(folder)).edits
    assert f'{WEIGHT}(fp16 $npz("a.npz", "w32"))' in edits.values()
    assert {text[slice(*read.written(span))] for span in edits} == {
        "",
        'mul(x, fp16 $npz("a.npz", "w32"))',
        'fp16 $npz("a.npz", "w32")',
    }
