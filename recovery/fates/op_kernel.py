"""The half queue offsets that op messages list in their bodies, inside compiled code.

Source: TransactionalMessageUtil#OFFSET_SEPARATOR, TransactionalMessageServiceImpl#fillOpRemoveMap @4.9.7, 5.3.3.
"""

from __future__ import annotations

from parsers.commitlog.compiled.shape import shape_of
from parsers.kernels.arrays import Bytes, Longs
from parsers.kernels.kernel import kernel
from recovery.scan.kernel import COMMA, ZERO, plain_number

PLUS = 0x2B


@kernel
def count_numbers(data: Bytes, positions: Longs) -> int:
    """How many numbers the bodies hold at most."""
    count = 0
    for row in range(len(positions)):
        _, body_at, body_size, _, _, _, _ = shape_of(data, positions[row])
        count += 1
        for at in range(body_at, body_at + body_size):
            count += int(data[at] == COMMA)
    return count


@kernel
def half_offset(data: Bytes, start: int, end: int) -> int:
    """`Long#valueOf` of a text, as far as a queue goes: a plus sign and zeros may stand before the digits."""
    start += int(start < end and data[start] == PLUS)
    while start < end - 1 and data[start] == ZERO:
        start += 1
    return plain_number(data, start, end)


@kernel
def put_numbers(data: Bytes, positions: Longs, row_of: Longs, numbers: Longs) -> None:
    """Every number of the bodies and the row it is from; what is none, or below 0, is -1, which no queue has."""
    used = 0
    for row in range(len(positions)):
        _, body_at, body_size, _, _, _, _ = shape_of(data, positions[row])
        start, end = body_at, body_at + body_size
        for at in range(body_at, end + 1):
            if at == end or data[at] == COMMA:
                row_of[used], numbers[used] = row, half_offset(data, start, at)
                used += 1
                start = at + 1
