"""The offset message id, which says where the broker stored a message.

Upper-case hex of 16 (IPv4) or 28 (IPv6) bytes, as a Java client's unique id is: length does not tell them apart.
Source: MessageDecoder#createMessageId, #decodeMessageId @5.3.3.
"""

from __future__ import annotations

import re

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


def _raw(hex_id: str) -> tuple[bytes, int]:
    if not HEX.fullmatch(hex_id):  # bytes.fromhex would take spaces
        raise ValueError(f"{hex_id!r} is not an id in hex")
    raw = bytes.fromhex(hex_id)
    if len(raw) not in ID_SIZES:
        raise ValueError(f"{hex_id!r}: an id has 32 or 56 hex digits, this one {len(hex_id)}")
    return raw, ID_SIZES[len(raw)]
