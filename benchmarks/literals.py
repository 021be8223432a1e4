"""How fast element texts are encoded and decoded: millions of elements a second, for each data type.

    python benchmarks/literals.py [ELEMENTS]

`encode` reads a list literal to what a `TensorValue` holds; `decode` gives the element texts, and `print` the
nested literal from them. Best of three runs on random bits, after a first that fills the tables of 16-bit types;
`first` is that run.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from miltext.schema.dtypes import DTYPES, DType
from miltext.syntax.encoding import decode, encode_list
from miltext.syntax.literals import nest

COLUMNS = 1000


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """Return what an action returns, and the seconds that it took."""
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def data_of(dtype: DType, count: int) -> Any:
    """Make random bits or, for fp32 and fp64, numbers between -1 and 1, which are more usual than random bits."""
    source = random.Random(1)
    if dtype.field in ("floats", "doubles"):
        texts = [source.uniform(-1, 1).hex() for _ in range(count)]
        return encode_list("[" + ",".join(texts) + "]", (count,), dtype)
    if dtype.field == "bytes":
        return source.randbytes(count * dtype.bits // 8)
    if dtype.name == "uint64":
        return [source.getrandbits(64) - (1 << 63) for _ in range(count)]
    least, most = (0, 1) if dtype.kind == "bool" else (dtype.minimum, dtype.maximum)
    return [source.randint(least, most) for _ in range(count)]


def row(dtype: DType, count: int, decimal: bool) -> None:
    """Measure one type, and print it."""
    data = data_of(dtype, count)
    shape = (count // COLUMNS, COLUMNS)
    texts, first_decode = timed(lambda: decode(data, dtype, count, decimal=decimal))
    literal, nesting = timed(lambda: nest(texts, shape))
    back, first_encode = timed(lambda: encode_list(literal, shape, dtype))
    assert back == data or dtype.packed
    decoding = min(timed(lambda: decode(data, dtype, count, decimal=decimal))[1] for _ in range(3))
    encoding = min(timed(lambda: encode_list(literal, shape, dtype))[1] for _ in range(3))
    seconds = (first_encode, encoding, first_decode, decoding, decoding + nesting)
    name = f"{dtype.name} decimal" if decimal else dtype.name
    print(f"{name:16}" + "".join(f"{count / figure / 1e6:14.1f}" for figure in seconds))


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    count -= count % (8 * COLUMNS)
    print(f"{count} elements, millions a second")
    print(f"{'':16}" + "".join(f"{name:>14}" for name in ("first encode", "encode", "first decode", "decode", "print")))
    for dtype in DTYPES:
        if dtype.kind != "string":
            row(dtype, count, decimal=False)
        if dtype.kind == "float":
            row(dtype, count, decimal=True)


if __name__ == "__main__":
    main()
