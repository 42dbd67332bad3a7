"""RemotingCommand frames: both header forms, and a stream of bytes cut into frames.

Frame: int32 total (bytes after it), int32 mark (top byte: header form, low 24 bits: header length), header, body.
Source: RemotingCommand#decode, #markProtocolType, RocketMQSerializable#rocketMQProtocolDecode @4.4.0 - 5.3.3.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rebalance.model.json_text import parse_json

JSON_HEADER = 0
ROCKETMQ_HEADER = 1
MAX_FRAME = 16 * 1024 * 1024  # com.rocketmq.remoting.frameMaxLength
LANGUAGES = (  # LanguageCode, by code
    *("JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY"),
    *("OTHER", "HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS"),
)
_RESPONSE, _ONEWAY = 1, 2  # bits of `flag`
PREFIX = struct.Struct(">ii")
FIXED = struct.Struct(">hbhii")  # code, language, version, opaque, flag
INT16, INT32 = struct.Struct(">h"), struct.Struct(">i")
_MAX_HEADER = 0xFFFF  # longer headers are legal, and none is known
_FRAME_START = re.compile(rb"(?=[\x00\x01][\s\S]{3}[\x00\x01]\x00[\s\S]{2})")


class RemotingCommand(NamedTuple):
    """One request or answer: `code` is a request code or a response code; `ext_fields` is None if absent."""

    code: int
    language: str
    version: int
    opaque: int
    flag: int
    remark: str | None
    ext_fields: Mapping[str, str] | None
    body: bytes

    @property
    def is_response(self) -> bool:
        """An answer, not a request."""
        return bool(self.flag & _RESPONSE)

    @property
    def is_oneway(self) -> bool:
        """A request that wants no answer."""
        return bool(self.flag & _ONEWAY)


class RemotingDamage(ValueError):
    """The bytes are no RemotingCommand."""


def decode_frame(frame: bytes) -> RemotingCommand:
    """The command of a frame without its leading `total`.

    Raises:
        RemotingDamage: any bytes that are no frame.
    """
    if len(frame) < INT32.size:
        raise RemotingDamage(f"frame of {len(frame)} bytes")
    (mark,) = INT32.unpack_from(frame)
    header_end = INT32.size + (mark & 0xFFFFFF)
    decode = _HEADERS.get(mark >> 24)
    if decode is None or header_end > len(frame):
        raise RemotingDamage(f"header mark {mark:#x} in a frame of {len(frame)} bytes")
    try:
        return decode(frame[INT32.size : header_end])._replace(body=frame[header_end:])
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise RemotingDamage("a header that is none of a command") from None


def _decode_json(header: bytes) -> RemotingCommand:
    fields = parse_json(header)
    remark, ext_fields = fields.get("remark"), fields.get("extFields")
    if ext_fields is not None:
        ext_fields = {str(key): str(value) for key, value in ext_fields.items() if value is not None}
    return RemotingCommand(
        int(fields["code"]),
        str(fields.get("language", "JAVA")),
        int(fields.get("version", 0)),
        int(fields["opaque"]),
        int(fields.get("flag", 0)),
        None if remark is None else str(remark),
        ext_fields,
        b"",
    )


def _decode_rocketmq(header: bytes) -> RemotingCommand:
    code, language, version, opaque, flag = FIXED.unpack_from(header)
    remark, at = _text(header, FIXED.size, INT32)
    (ext_size,) = INT32.unpack_from(header, at)
    at += INT32.size
    if ext_size < 0 or at + ext_size != len(header):
        raise ValueError(f"extFields of {ext_size} bytes, {len(header) - at} left")
    ext_fields: dict[str, str] = {}
    while at < len(header):
        key, at = _text(header, at, INT16)
        ext_fields[key], at = _text(header, at, INT32)
    name = LANGUAGES[language] if 0 <= language < len(LANGUAGES) else "OTHER"
    return RemotingCommand(code, name, version, opaque, flag, remark or None, ext_fields if ext_size else None, b"")


def _text(header: bytes, at: int, length: struct.Struct) -> tuple[str, int]:
    (size,) = length.unpack_from(header, at)
    begin = at + length.size
    if size < 0 or begin + size > len(header):
        raise ValueError(f"text of {size} bytes at {begin}, header has {len(header)}")
    return header[begin : begin + size].decode(), begin + size


_HEADERS: Mapping[int, Callable[[bytes], RemotingCommand]] = {
    JSON_HEADER: _decode_json,
    ROCKETMQ_HEADER: _decode_rocketmq,
}


@dataclass(slots=True)
class FrameCounts:
    """Bytes fed = bytes of frames + skipped_bytes + bytes of the last, unfinished frame."""

    frames: int = 0
    skipped_bytes: int = 0
    lost_step: int = 0


class FrameSplitter:
    """Cuts one direction of a connection into commands.

    Args:
        in_step: the first byte fed begins a frame. Otherwise, and after `lose_step`, the first bytes that make a whole
            header with possible lengths are taken as the next frame.
    """

    def __init__(self, counts: FrameCounts, *, in_step: bool) -> None:
        self._counts = counts
        self._in_step = in_step
        self._buffer = bytearray()

    @property
    def waiting_bytes(self) -> int:
        """Bytes of a frame that is not complete."""
        return len(self._buffer)

    def lose_step(self) -> None:
        """Bytes are missing here: what is buffered cannot be completed."""
        self._skip(len(self._buffer))
        self._in_step = False
        self._counts.lost_step += 1

    def feed(self, chunk: bytes) -> list[RemotingCommand]:
        """Commands that these bytes complete."""
        self._buffer += chunk
        commands: list[RemotingCommand] = []
        while self._in_step or self._find_step():
            if len(self._buffer) < PREFIX.size:
                break
            total, mark = PREFIX.unpack_from(self._buffer)
            if not _possible(total, mark):
                self._in_step = False
                self._counts.lost_step += 1
                continue
            if len(self._buffer) < INT32.size + total:
                break
            self._take(bytes(self._buffer[INT32.size : INT32.size + total]), commands)
        return commands

    def _take(self, frame: bytes, commands: list[RemotingCommand]) -> None:
        try:
            commands.append(decode_frame(frame))
        except RemotingDamage:
            self._in_step = False
            self._counts.lost_step += 1
            self._skip(1)
        else:
            self._counts.frames += 1
            del self._buffer[: INT32.size + len(frame)]

    def _find_step(self) -> bool:
        """Drop bytes up to the next possible frame; True if its header is all there and is one."""
        buffer, at = self._buffer, 0
        while found := _FRAME_START.search(buffer, at):
            at = found.start()
            total, mark = PREFIX.unpack_from(buffer, at)
            header_end = at + PREFIX.size + (mark & 0xFFFFFF)
            if _possible(total, mark) and (mark >> 24 != JSON_HEADER or bytes(buffer[at + 8 : at + 9]) in (b"", b"{")):
                if header_end > len(buffer):
                    self._skip(at)
                    return False
                try:
                    decode_frame(bytes(buffer[at + INT32.size : header_end]))
                except RemotingDamage:
                    pass
                else:
                    self._skip(at)
                    self._in_step = True
                    return True
            at += 1
        self._skip(max(at, len(buffer) - PREFIX.size + 1))
        return False

    def _skip(self, size: int) -> None:
        self._counts.skipped_bytes += size
        del self._buffer[:size]


def _possible(total: int, mark: int) -> bool:
    header = mark & 0xFFFFFF
    return mark >> 24 in _HEADERS and 0 < header <= _MAX_HEADER and INT32.size + header <= total <= MAX_FRAME
