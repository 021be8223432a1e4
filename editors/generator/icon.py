"""The extension's icon: a graph of three operations, drawn from squares and lines, as a PNG."""

from __future__ import annotations

import struct
import zlib

SIZE = 128
GROUND, LINE, NODE, OUTPUT = range(4)
PALETTE = ((13, 17, 23), (139, 148, 158), (121, 192, 255), (126, 231, 135))

Box = tuple[int, int, int, int]
LINES: tuple[Box, ...] = ((61, 40, 67, 60), (37, 57, 91, 63), (37, 57, 43, 84), (85, 57, 91, 84))
NODES: tuple[Box, ...] = ((44, 18, 84, 44), (18, 80, 58, 108))
OUTPUTS: tuple[Box, ...] = ((70, 80, 110, 108),)
"""Boxes: the left, top, right and bottom, the last two exclusive."""


def icon() -> bytes:
    """Return the icon. Its data are stored without compression, so that each version of zlib writes the same."""
    colors = bytes(value for color in PALETTE for value in color)
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 3, 0, 0, 0)  # 8 bits a pixel, with a palette
    rows = b"".join(b"\0" + bytes(row) for row in _pixels())
    chunks = ((b"IHDR", header), (b"PLTE", colors), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _pixels() -> list[list[int]]:
    rows = [[GROUND] * SIZE for _ in range(SIZE)]
    for color, boxes in ((LINE, LINES), (NODE, NODES), (OUTPUT, OUTPUTS)):
        for left, top, right, bottom in boxes:
            for row in rows[top:bottom]:
                row[left:right] = [color] * (right - left)
    return rows


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
