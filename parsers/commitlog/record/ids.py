"""The two ids of a message: where the broker stored it, and what the client called it.

Both are upper-case hex of 16 (IPv4) or 28 (IPv6) bytes: length does not tell them apart.
Source: MessageDecoder#createMessageId, #decodeMessageId, MessageClientIDSetter @5.3.3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from parsers.commitlog.record.host import Host

HEX = re.compile("(?:[0-9A-Fa-f]{2})*")
ID_SIZES = {16: 4, 28: 16}
"""Bytes of an id -> bytes of the address in it."""


def encode_message_id(store_host: Host, physical_offset: int) -> str:
    """The offset message id: address, port, physical offset of the record."""
    port = store_host.port.to_bytes(4, "big", signed=True)
    return (store_host.address + port + physical_offset.to_bytes(8, "big", signed=True)).hex().upper()


def decode_message_id(message_id: str) -> tuple[Host, int]:
    """Store host and physical offset. Raises ValueError for a text that is no such id."""
    raw, address_size = _raw(message_id)
    port = int.from_bytes(raw[address_size : address_size + 4], "big", signed=True)
    return Host(raw[:address_size], port), int.from_bytes(raw[address_size + 4 :], "big", signed=True)


@dataclass(frozen=True, slots=True)
class UniqueId:
    """What a Java client packs into UNIQ_KEY.

    `since_month_ms` counts from the first day of the month, 00:00 in the client's own zone: without that zone and a
    reference month it is no instant.
    """

    address: bytes
    pid_low: int
    class_loader_hash: int
    since_month_ms: int
    counter: int

    def born_at_ms(self, reference: datetime) -> int:
        """Epoch milliseconds, for a `reference` after it by less than a month, in the client's zone (must be aware).

        As `getNearlyTimeFromID`: the month of the reference, or the one before where that would be in its future.
        """
        if reference.tzinfo is None:
            raise ValueError("the reference needs a time zone: the client's")
        month = reference.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        born_at_ms = int(month.timestamp()) * 1000 + self.since_month_ms
        if born_at_ms <= reference.timestamp() * 1000:
            return born_at_ms
        before = month.replace(year=month.year - (month.month == 1), month=(month.month - 2) % 12 + 1)
        return int(before.timestamp()) * 1000 + self.since_month_ms


def decode_unique_id(unique_id: str) -> UniqueId | None:
    """The parts of a Java client's unique id; None for any other text, which is just as legal."""
    try:
        raw, at = _raw(unique_id)
    except ValueError:
        return None
    return UniqueId(
        address=raw[:at],
        pid_low=int.from_bytes(raw[at : at + 2], "big"),
        class_loader_hash=int.from_bytes(raw[at + 2 : at + 6], "big", signed=True),
        since_month_ms=int.from_bytes(raw[at + 6 : at + 10], "big"),
        counter=int.from_bytes(raw[at + 10 :], "big"),
    )


def _raw(hex_id: str) -> tuple[bytes, int]:
    if not HEX.fullmatch(hex_id):  # bytes.fromhex would take spaces
        raise ValueError(f"{hex_id!r} is not an id in hex")
    raw = bytes.fromhex(hex_id)
    if len(raw) not in ID_SIZES:
        raise ValueError(f"{hex_id!r}: an id has 32 or 56 hex digits, this one {len(hex_id)}")
    return raw, ID_SIZES[len(raw)]
