"""Hosts and ids as text, inside compiled code: the twins of `Host.text` and `encode_message_id`.

Each function writes at a byte of `text` and returns the byte after; up to 16 bytes more may be overwritten.
"""

from __future__ import annotations

import numpy as np

from parsers.commitlog.layout import HOST_V4, HOST_V6
from parsers.kernels.bigendian import load_int
from parsers.kernels.blocks import Bytes
from parsers.numba_cache import cached_njit

HOST_TEXT_SIZE = len("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:-2147483648")
MESSAGE_ID_SIZE = 2 * (HOST_V6.size + 8)

HEX_UPPER = np.frombuffer("".join(f"{byte:02X}" for byte in range(256)).encode(), np.uint8).reshape(256, 2)
OCTETS = np.frombuffer("".join(f"{byte:<4}" for byte in range(256)).encode(), np.uint8).reshape(256, 4)
OCTET_SIZES = np.array([len(str(byte)) for byte in range(256)], np.int64)
HEX_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
V4_ADDRESS, V6_ADDRESS = HOST_V4.offsets["port"], HOST_V6.offsets["port"]
DOT, COLON, MINUS, ZERO, OPEN, CLOSE = b".:-0[]"


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def put_host(text: Bytes, to: int, data: Bytes, at: int, v6: bool) -> int:
    if not v6:
        for i in range(V4_ADDRESS):
            to = put_octet(text, to, data[at + i])
            text[to] = DOT
            to += 1
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


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def put_octet(text: Bytes, to: int, octet: int) -> int:
    for i in range(4):
        text[to + i] = OCTETS[octet, i]
    return to + int(OCTET_SIZES[octet])


@cached_njit(nogil=True, _nrt=False)
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


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def put_decimal(text: Bytes, to: int, value: int) -> int:
    """A signed number in decimal."""
    left = int(value)
    if left < 0:
        text[to] = MINUS
        to += 1
        left = -left
    size, power = 1, 10
    while power <= left:
        size, power = size + 1, power * 10
    for i in range(size - 1, -1, -1):
        text[to + i] = ZERO + left % 10
        left //= 10
    return to + size


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def put_hex(text: Bytes, to: int, data: Bytes, at: int, size: int) -> int:
    """Bytes in upper-case hex."""
    for i in range(size):
        digits = HEX_UPPER[data[at + i]]
        text[to] = digits[0]
        text[to + 1] = digits[1]
        to += 2
    return to
