"""Bodies as the application sent them: decompressed, with a cap on what one may grow to.

zlib is a stream of RFC 1950, LZ4 and Zstd are in their frame formats; Arrow brings the readers of both. Frames that
follow one another are joined, and what follows the last frame must be a frame, too.
Source: MessageDecoder#decode, CompressionType, LZ4Compressor, ZlibCompressor, ZstdCompressor @5.3.3.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial

import pyarrow as pa

from parsers.commitlog.record.layout import compression
from parsers.damage.errors import CorruptRecord, StoreFormatError, UnsupportedVersion

MOST_BODY_BYTES = 64 << 20
"""The default cap on one decompressed body: sixteen times the broker's default limit (`maxMessageSize`, 4 MiB)."""


def decompress(body: bytes | memoryview, sys_flag: int, *, cap: int = MOST_BODY_BYTES) -> bytes:
    """The body itself when it is not compressed.

    Raises:
        CorruptRecord: not a whole stream of its kind, or more than `cap` bytes come out (`expected` names the cap).
        UnsupportedVersion: a compression type that no version writes.
    """
    kind = compression(sys_flag)
    if kind is None or not len(body):
        return bytes(body)
    if kind not in _DECOMPRESSORS:
        raise UnsupportedVersion(
            "a compression type no version writes", field="sys_flag", actual=hex(sys_flag), length=len(body)
        )
    try:
        whole, plain = _DECOMPRESSORS[kind](bytes(body), cap)
    except (zlib.error, OSError, MemoryError) as error:
        raise _broken(kind, str(error), body) from error
    if len(plain) > cap:
        raise CorruptRecord(
            f"the {kind} body grows beyond the cap", field="body", expected=f"≤ {cap}", length=len(body)
        )
    if not whole:
        raise _broken(kind, "the stream ends before its end", body)
    return plain


def _broken(kind: str, why: str, body: bytes | memoryview) -> StoreFormatError:
    return CorruptRecord(f"the body is no whole {kind} stream: {why}", field="body", length=len(body))


def _zlib(body: bytes, cap: int) -> tuple[bool, bytes]:
    stream = zlib.decompressobj()
    plain = stream.decompress(body, cap + 1)
    return stream.eof, plain


def _framed(codec: str, body: bytes, cap: int) -> tuple[bool, bytes]:
    """At most `cap` bytes and one more. Arrow raises OSError where a frame is broken or ends before its end."""
    with pa.CompressedInputStream(pa.BufferReader(body), codec) as stream:
        plain: bytes = stream.read(cap + 1)
        return True, plain


_DECOMPRESSORS: dict[str, Callable[[bytes, int], tuple[bool, bytes]]] = {
    "zlib": _zlib,
    "lz4": partial(_framed, "lz4"),
    "zstd": partial(_framed, "zstd"),
}
