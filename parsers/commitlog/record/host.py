"""A born or store host: an address of 4 or 16 bytes and a port, which Java writes as a signed int."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.commitlog.record.layout import HOST_V4, HOST_V6
from parsers.layouts.layout import Buffer, Layout

PORT_SIZE = 4


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
