"""A born or store host: an address of 4 or 16 bytes and a port, which Java writes as a signed int; and the offset
message id, which begins with one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from parsers.commitlog.record.layout import HOST_V4, HOST_V6
from parsers.layouts.layout import Buffer, Layout

PORT_SIZE = 4
HEX = re.compile("(?:[0-9A-Fa-f]{2})*")
ID_SIZES = {16: 4, 28: 16}
"""Bytes of an id -> bytes of the address in it."""


@dataclass(frozen=True, slots=True)
class Host:
    address: bytes
    port: int

    @property
    def is_v6(self) -> bool:
        return len(self.address) == 16

    @property
    def text(self) -> str:
        """`1.2.3.4:5` or `[a:b:0:0:0:0:0:1]:5`: eight groups without padding, as Java's Inet6Address prints them."""
        if not self.is_v6:
            return ".".join(map(str, self.address)) + f":{self.port}"
        groups = (self.address[i] << 8 | self.address[i + 1] for i in range(0, 16, 2))
        return "[" + ":".join(f"{group:x}" for group in groups) + f"]:{self.port}"


def decode_host(buf: Buffer, layout: Layout, at: int) -> Host:
    row = layout.unpack(buf, at)
    return Host(bytes(buf[at : at + layout.size - PORT_SIZE]), row["port"])


def encode_host(host: Host) -> bytes:
    layout = HOST_V6 if host.is_v6 else HOST_V4
    return layout.pack(
        {
            **{
                field.name: int.from_bytes(
                    host.address[layout.offsets[field.name] :][: field.width], "big", signed=True
                )
                for field in layout.fields
                if field.name != "port"
            },
            "port": host.port,
        }
    )


def encode_message_id(store_host: Host, physical_offset: int) -> str:
    """The offset message id, which says where the broker stored a message: address, port, physical offset.

    Upper-case hex of 16 (IPv4) or 28 (IPv6) bytes, as a Java client's unique id is: length does not tell them apart.
    Source: MessageDecoder#createMessageId, #decodeMessageId @5.3.3.
    """
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
