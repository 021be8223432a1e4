"""Sizes as people write them: `image=1,3,256,256`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miltext.descriptions.sizes import ANY, GREATEST_SIZE, Size, read_sizes, shape_of, spell_sizes
from miltext.diagnostics import ModelError


def fixed(*sizes: int) -> tuple[Size, ...]:
    return tuple(Size(size, size) for size in sizes)


@pytest.mark.parametrize(
    ("word", "sizes"),
    [
        ("x=1,3,256,256", fixed(1, 3, 256, 256)),
        ("x= 1, 3 ,256", fixed(1, 3, 256)),
        ("x=[1, 3, 256]", fixed(1, 3, 256)),
        ("x=7", fixed(7)),
        ("x=007", fixed(7)),
        ("x=[]", ()),
        ("x=[ ]", ()),
        ("x=1,?,64..512", (Size(1, 1), ANY, Size(64, 512))),
        ("x=64..", (Size(64, None),)),
        ("x=1..", (ANY,)),
        ("x=5..5", fixed(5)),
        ("x=0..5", (Size(0, 5),)),
        (f"x={GREATEST_SIZE}", fixed(GREATEST_SIZE)),
    ],
)
def test_reads(word: str, sizes: tuple[Size, ...]) -> None:
    assert read_sizes([word]) == {"x": sizes}


def test_the_last_sign_ends_a_name() -> None:
    assert read_sizes(["a=b=1,2", "c,d=3"]) == {"a=b": fixed(1, 2), "c,d": fixed(3)}


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("", "`` is not NAME=SIZES"),
        ("x", "`x` is not NAME=SIZES"),
        ("=1,2", "`=1,2` is not NAME=SIZES"),
        ("x=", "`x=` has no sizes; a scalar is `x=[]`"),
        ("x= ", "`x=` has no sizes; a scalar is `x=[]`"),
        ("x=,", "`,` of `x` are not sizes"),
        ("x=1,,2", "`1,,2` of `x` are not sizes"),
        ("x=1.5", "`1.5` of `x` are not sizes"),
        ("x=..5", "`..5` of `x` are not sizes"),
        ("x=-3", "`-3` of `x` are not sizes"),
        ("x=٣", "`٣` of `x` are not sizes"),
        ("x=[1,2", "`[1,2` of `x` are not sizes"),
        ("x=1,2,", "`1,2,` of `x` are not sizes; did you mean `x=1,2`?"),
        ("x=1x3x256x256", "`1x3x256x256` of `x` are not sizes; did you mean `x=1,3,256,256`?"),
        ("x=1 3 256", "`1 3 256` of `x` are not sizes; did you mean `x=1,3,256`?"),
        ("x=(1, 3)", "`(1, 3)` of `x` are not sizes; did you mean `x=1,3`?"),
        ("x=1,64-512", "`1,64-512` of `x` are not sizes; did you mean `x=1,64..512`?"),
        ("x=1,64:512", "`1,64:512` of `x` are not sizes; did you mean `x=1,64..512`?"),
        ("x=1,-1", "`1,-1` of `x` are not sizes; did you mean `x=1,?`?"),
        ("x=None,3", "`None,3` of `x` are not sizes; did you mean `x=?,3`?"),
        ("x=5..3", "5..3 of `x` begins above its end; did you mean `3..5`?"),
        ("x=1,0", "0 of `x` leaves no elements; a size is 1 or more"),
        ("x=0..0", "0..0 of `x` leaves no elements"),
        (f"x={GREATEST_SIZE + 1}", f"{GREATEST_SIZE + 1} of `x` is greater than {GREATEST_SIZE}"),
        ("x=" + "9" * 5000, f"a size of `x` is greater than {GREATEST_SIZE}"),
    ],
)
def test_refuses(word: str, message: str) -> None:
    with pytest.raises(ModelError) as refused:
        read_sizes([word])
    [diagnostic] = refused.value.diagnostics
    assert (diagnostic.code, diagnostic.message[: len(message)]) == ("MIL434", message)
    assert "image=1,3,256,256" in diagnostic.notes[-1].message


def test_a_name_that_is_given_twice() -> None:
    with pytest.raises(ModelError, match="the sizes of `x` are given twice"):
        read_sizes(["x=1", "y=2", "x=1"])


def test_the_shape_that_a_program_states() -> None:
    assert shape_of(read_sizes(["x=1,?,64..512,64..,5..5"])["x"]) == (1, None, None, None, 5)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9) | st.none())))
def test_spelled_sizes_are_read(pairs: list[tuple[int, int | None]]) -> None:
    sizes = tuple(Size(least, None if more is None else least + more - 1 or 1) for least, more in pairs)
    assert read_sizes([f"x={spell_sizes(sizes)}"]) == {"x": sizes}


@pytest.mark.parametrize("written", ["-1,32", "None,32", "2-5,32", "*"])
def test_no_range_is_suggested_where_sizes_are_fixed(written: str) -> None:
    with pytest.raises(ModelError, match="are not sizes: give one number for each dimension"):
        read_sizes([f"x={written}"], are_fixed=True)
    with pytest.raises(ModelError, match="did you mean `x=1,32`"):
        read_sizes(["x=1x32"], are_fixed=True)
