"""Bodies that brokers and clients write for themselves, explained: each value in the bytes where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.commitlog.record.body import decompress
from parsers.commitlog.record.layout import transaction_type
from parsers.commitlog.record.message import Message
from parsers.damage.errors import StoreFormatError
from parsers.explain.line import Line, bytes_line, instant_text, printable
from parsers.messages.declared import MOST_BODY_BYTES, BodyKind, Piece
from parsers.messages.kinds import body_kind


def body_lines(buf: memoryview, at: int, message: Message, group: str) -> Iterator[Line]:
    """The lines of a message's body, which begins at byte `at`: one, or one for each value that is decoded."""
    end = at + len(message.body)
    compression = message.compression
    verdict = f"CRC {'right' if message.body_crc_ok else 'wrong'}{f', {compression}' if compression else ''}"
    kind, pieces, why = _decoded(message)
    is_in_place = not compression and all(piece.end > piece.start for piece in pieces)
    if kind is None or why or not is_in_place:
        meaning = _of_whole(kind, pieces, why) if kind else _kind_of_message(message)
        yield from bytes_line(buf, at, end, group, "body", verdict, meaning)
        return
    is_numbered = any(piece.record_no for piece in pieces)
    for piece in pieces:
        said = f"; body: {kind.title}, {verdict}" if piece is pieces[0] else ""
        yield from _piece_line(buf, at, piece, group, said, is_numbered=is_numbered)


def _decoded(message: Message) -> tuple[BodyKind | None, list[Piece], str]:
    """The kind of the body, its pieces, and why it has none."""
    properties = dict(message.properties())
    try:
        body = decompress(message.body, message.sys_flag, cap=MOST_BODY_BYTES)
        kind = body_kind(message.topic, properties, body[:16])
        return kind, [] if kind is None else kind.whole(body), ""
    except StoreFormatError as wrong:
        return body_kind(message.topic, properties, b""), [], wrong.problem


def _of_whole(kind: BodyKind, pieces: list[Piece], why: str) -> str:
    if why:
        return f"should be {kind.title}, and is not: {why}"
    count = len({piece.record_no for piece in pieces})
    return f"{kind.title}: {count} records; `dump commitlog --decode` shows them"


def _piece_line(buf: memoryview, at: int, piece: Piece, group: str, said: str, *, is_numbered: bool) -> Iterator[Line]:
    place = f"body[{piece.record_no}]" if is_numbered else "body"
    start, end = at + piece.start, at + piece.end
    if piece.named is None:
        yield from bytes_line(buf, start, end, group, f"{place} rest", "", said.removeprefix("; "))
        return
    value = str(piece.value)
    if piece.named.form == "time_ms" and isinstance(piece.value, int):
        value = f"{piece.value} = {instant_text(piece.value)}"
    field = f"{place} {piece.named.name}"
    yield from bytes_line(buf, start, end, group, field, printable(value), piece.named.meaning + said)


def _kind_of_message(message: Message) -> str:
    kind = transaction_type(message.sys_flag)
    return "" if kind == "none" else f"transaction: {kind}"
