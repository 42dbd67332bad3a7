"""Hosts and ids as text, inside compiled code: the twins of `Host.text` and `encode_message_id`.

Each function writes at a byte of `text` and returns the byte after; up to 16 bytes more may be overwritten.
"""

from __future__ import annotations

import numpy as np

from parsers.commitlog.record.layout import HOST_V4, HOST_V6
from parsers.kernels.arrays import Bytes
from parsers.kernels.bigendian import load_int
from parsers.kernels.blocks import copy_exactly
from parsers.kernels.kernel import inline_kernel, kernel

HOST_TEXT_SIZE = len("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:-2147483648")
MESSAGE_ID_SIZE = 2 * (HOST_V6.size + 8)

HEX_UPPER = np.frombuffer("".join(f"{byte:02X}" for byte in range(256)).encode(), np.uint8)
DOTTED = np.frombuffer("".join(f"{number}.".ljust(4) for number in range(1000)).encode(), np.uint8)
PADDED = np.frombuffer("".join(f"{number:03d} " for number in range(1000)).encode(), np.uint8)
DIGITS = np.array([len(str(number)) for number in range(1000)], np.int64)
HEX_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
V4_ADDRESS, V6_ADDRESS = HOST_V4.offsets["port"], HOST_V6.offsets["port"]
COLON, MINUS, OPEN, CLOSE = b":-[]"


@inline_kernel
def put_host(text: Bytes, to: int, data: Bytes, at: int, v6: bool) -> int:
    if not v6:
        for i in range(V4_ADDRESS):
            to = put_small(text, to, data[at + i]) + 1  # the dot after it
        text[to - 1] = COLON
        return put_decimal(text, to, load_int(data, at + V4_ADDRESS))
    text[to] = OPEN
    to += 1
    for i in range(0, V6_ADDRESS, 2):
        to = put_group(text, to, data[at + i], data[at + i + 1])
        text[to] = COLON
        to += 1
    text[to - 1] = CLOSE
    text[to] = COLON
    return put_decimal(text, to + 1, load_int(data, at + V6_ADDRESS))


@inline_kernel
def put_small(text: Bytes, to: int, number: int) -> int:
    """A number below 1000 in decimal, and a dot after it that is not counted."""
    copy_exactly(text, to, DOTTED, 4 * int(number), 4)
    return to + int(DIGITS[number])


@kernel
def put_group(text: Bytes, to: int, high: int, low: int) -> int:
    """Sixteen bits in hex without leading zeros."""
    group = (int(high) << 8) | int(low)
    shift = 12
    while shift > 0 and group >> shift == 0:
        shift -= 4
    while shift >= 0:
        text[to] = HEX_DIGITS[(group >> shift) & 0xF]
        to += 1
        shift -= 4
    return to


@inline_kernel
def put_decimal(text: Bytes, to: int, value: int) -> int:
    """A signed 32-bit number in decimal."""
    left = int(value)
    if left < 0:
        text[to] = MINUS
        to += 1
        left = -left
    thousands = unsigned_quotient(left)
    if thousands == 0:
        return put_small(text, to, left)
    rest = left - thousands * 1000
    to = put_small(text, to, thousands) if thousands < 1000 else put_millions(text, to, thousands)
    copy_exactly(text, to, PADDED, 4 * rest, 4)
    return to + 3


@inline_kernel
def unsigned_quotient(left: int) -> int:
    """A number that is not negative, by 1000: without the sign that Python's division asks for."""
    return int(np.uint32(left) // np.uint32(1000))


@kernel
def put_millions(text: Bytes, to: int, thousands: int) -> int:
    """A number of thousands from 1000 to 2147483: no port, but what a damaged field may say."""
    millions = int(thousands) // 1000
    if millions >= 1000:
        to = put_small(text, to, millions // 1000)
        copy_exactly(text, to, PADDED, 4 * (millions % 1000), 4)
        to += 3
    else:
        to = put_small(text, to, millions)
    copy_exactly(text, to, PADDED, 4 * (int(thousands) % 1000), 4)
    return to + 3


@inline_kernel
def put_hex(text: Bytes, to: int, data: Bytes, at: int, size: int) -> int:
    """Bytes in upper-case hex."""
    for i in range(size):
        copy_exactly(text, to + 2 * i, HEX_UPPER, 2 * int(data[at + i]), 2)
    return to + 2 * size
