"""Bytes changed in the ways that hurt readers of binary files and of text, from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

EXTREMES = [
    b"\0" * 8,
    b"\xff" * 8,
    b"\x7f" + b"\xff" * 7,
    b"\x80" + b"\0" * 7,
    b"\0\0\0\1",
    b"\x7f\xff\xff\xff",
    b"\xda\xa3\x20\xa7",
    b"\xcb\xd4\x31\x94",
    b"9" * 25,
    b"-1",
    b"null",
    b"[" * 40,
    b'{"',
]
INTERESTING = 6000
"""Bytes from the start where mutations fall, in files that are mostly unwritten."""
SIZES = (1, 4, 20, 46, 52, 300)


def mutated(content: bytes, random: Random, others: Sequence[bytes] = (b"",)) -> bytes:
    """One to four of: a flipped bit, an extreme, a swapped, dropped, doubled or zeroed stretch, another file, a cut."""
    edited = bytearray(content)
    for _ in range(random.randint(1, 4)):
        reach = min(len(edited), INTERESTING)
        at, size = random.randrange(reach + 1), random.choice(SIZES)
        match random.randrange(8):
            case 0 if reach:
                edited[at % reach] ^= 1 << random.randrange(8)
            case 1:
                extreme = random.choice(EXTREMES)
                edited[at : at + len(extreme)] = extreme
            case 2:
                edited[at : at + 2 * size] = edited[at + size : at + 2 * size] + edited[at : at + size]
            case 3:
                del edited[at : at + size]
            case 4:
                edited[at:at] = edited[at : at + size]
            case 5:
                edited[at : at + size] = bytes(len(edited[at : at + size]))
            case 6:
                edited[at:at] = random.choice(others)[:4096]
            case _:
                del edited[at:]
    return bytes(edited)
