"""The facts about weights on a page: read up to a limit, or not read with the reason."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from models.test_weights import write

from miltext.printing.graph_calls import WeightFacts
from miltext.schema.dtypes import BY_NAME
from miltext.syntax.literals import nest
from miltext.weight_files import page_weights
from miltext.weight_files.page_weights import LEAST, LEFT_OUT, PAGE, PageWeights, limit
from miltext.weight_files.statistics import MOST_BYTES

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1278528\n"


def stored(dtype: str, count: int, offset: int = 64, file: str = "@model_path/weight.bin") -> str:
    return f'tensor<{dtype}, [{count}]>(BLOBFILE(path = tensor<string, []>("{file}"), offset = uint64({offset})))'


def read(spelled: str, folder: Path | None = None) -> WeightFacts:
    (facts,) = PageWeights(folder, {})([spelled])
    return facts


def test_a_stored_weight_has_its_place_and_statistics(tmp_path: Path) -> None:
    numbers = np.array([0, 0, 1.5, -2, math.inf], "f2")
    write(tmp_path / "weight.bin", [(BY_NAME["fp16"], numbers), (BY_NAME["uint4"], np.array([1, 0, 15], "u1"))])
    assert read(stored("fp16", 5), tmp_path) == WeightFacts(
        "fp16", "[5]", 5, 10, "@model_path/weight.bin", 64, "", ("-2", "inf", "inf", 0.4, 5)
    )
    packed = read(stored("uint4", 3, 192), tmp_path)
    assert (packed.elements, packed.size, packed.statistics) == (3, 2, ("0", "15", "5.33333", 0.333333, 3))


def test_literals_have_statistics_and_no_place() -> None:
    numbers = nest(["-3", "0", "4"], [3])
    assert read(f"tensor<int32, [3]>({numbers})").statistics == ("-3", "4", "0.333333", 0.333333, 3)
    assert read("tensor<bool, [2]>([true, false])").statistics == ("false", "true", "0.5", 0.5, 2)
    assert read("tensor<fp16, [1]>([nan])").statistics == ("nan", "nan", "nan", 0, 1)
    assert read("tensor<fp16, [0]>([])") == WeightFacts("fp16", "[0]", 0, 0)


def test_an_unreadable_weight_has_a_reason_and_its_type(tmp_path: Path) -> None:
    write(tmp_path / "weight.bin", [(BY_NAME["fp16"], np.array([1, 2], "f2"))])
    (tmp_path / "pointer.bin").write_bytes(POINTER)
    (tmp_path / "empty.bin").touch()
    reasons = {
        read(spelled, folder).reason: folder
        for spelled, folder in (
            (stored("fp16", 2), None),
            (stored("fp16", 3), tmp_path),
            (stored("fp16", 2, 65), tmp_path),
            (stored("fp16", 2, file="@model_path/none.bin"), tmp_path),
            (stored("fp16", 2, file="@model_path/../none.bin"), tmp_path),
            (stored("fp16", 2, file="@model_path/pointer.bin"), tmp_path),
            (stored("fp16", 2, file="@model_path/empty.bin"), tmp_path),
        )
    }
    assert len(reasons) == 7
    assert "" not in reasons
    assert any("git-lfs" in reason.lower() or "git lfs" in reason.lower() for reason in reasons)
    facts = read(stored("fp16", 3), tmp_path)
    assert facts._replace(reason="") == WeightFacts("fp16", "[3]", 3, 6, "@model_path/weight.bin", 64)


def test_a_weight_elided_in_the_text_is_found_by_its_spelling(tmp_path: Path) -> None:
    from miltext.parsing.parser import parse_value

    spelled = '$elided(3, "sha256:d5000bba")'
    value = parse_value("tensor<int32, [3]>([1, 2, 3])")
    known, unknown = PageWeights(None, {spelled: value})(
        [f"tensor<int32, [3]>({spelled})", 'tensor<int32, [3]>($elided(3, "sha256:00"))']
    )
    assert (known.elements, known.statistics) == (3, ("1", "3", "2", 0, 3))
    assert unknown == WeightFacts(reason=LEFT_OUT)


def test_many_weights_are_read_up_to_a_limit_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert limit([]) == limit([MOST_BYTES * 8]) == limit([1] * 1000) == MOST_BYTES
    assert limit([1 << 30] * 17) == MOST_BYTES // 2
    assert limit([1 << 20] * 4096) * 4096 == PAGE
    assert limit([1 << 30] * 100_000) == LEAST
    monkeypatch.setattr(page_weights, "PAGE", 1 << 17)
    monkeypatch.setattr(page_weights, "LEAST", 16)
    elements = 1 << 16
    array = np.concatenate([np.ones(elements // 4), np.zeros(elements * 3 // 4)]).astype("f4")
    write(tmp_path / "weight.bin", [(BY_NAME["fp32"], array)] * 2)
    expected: list[int] = []
    sizes: list[int] = []
    reader = PageWeights(tmp_path, {}, lambda size: expected.append(size()), sizes.append)
    second = 64 + 64 + elements * 4
    found = reader([stored("fp32", elements), stored("fp32", elements, second)])
    assert [each.statistics for each in found] == [("1", "1", "1", 0, elements // 4)] * 2
    assert expected == [sum(sizes)] == [1 << 17]
