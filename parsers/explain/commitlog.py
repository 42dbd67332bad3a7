"""CommitLog files: every field of every record, and what lies between records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.commitlog.batches.segment import regions_of
from parsers.commitlog.dledger_headers.layout import ENTRY_HEADER, ENTRY_START, header_size
from parsers.commitlog.files.region import Region
from parsers.commitlog.record.body import decompress
from parsers.commitlog.record.host import decode_host
from parsers.commitlog.record.layout import HEAD, RECORD_START, Parts, parts, transaction_type
from parsers.commitlog.record.message import Message, decode_message
from parsers.damage.errors import StoreFormatError
from parsers.evidence.mapped import map_file
from parsers.explain.line import Line, bytes_line, instant_text, layout_lines, printable
from parsers.layouts.layout import Layout
from parsers.messages.declared import MOST_DECODED_BYTES, BodyKind, Piece
from parsers.messages.kinds import body_kind
from parsers.messages.properties import meaning_of
from parsers.store.store_file import StoreFile
from parsers.values.java import decode_utf8

ENTRY_END, NAME_END = b"\x02", b"\x01"


def commitlog_lines(file: StoreFile, at: int) -> Iterator[Line]:
    """The regions of a file from the record or region that holds byte `at`."""
    buf, header = map_file(file.path), header_size(file)
    for region in regions_of(file, verify_crc=False):
        if region.end <= at:
            continue
        if region.kind == "messages":
            yield from _messages(buf, region, header, at)
        elif region.kind == "blank":
            yield from _headed(buf, region, [ENTRY_START if header else RECORD_START], "after the blank")
        elif region.kind == "unwritten":
            yield from bytes_line(buf, region.file_pos, region.end, _title(region), "zeros")
        else:
            yield from _headed(buf, region, [*_header_layouts(header), HEAD], region.kind)


def _header_layouts(header: int) -> Sequence[Layout]:
    return (ENTRY_HEADER,) if header else ()


def _title(region: Region) -> str:
    reason = f": {region.reason}" if region.reason else ""
    return f"{region.kind} at {region.file_pos}, {region.length} bytes{reason}"


def _headed(buf: memoryview, region: Region, layouts: Sequence[Layout], rest: str) -> Iterator[Line]:
    """Bytes that are no message: read as the head of a record, so that the field that breaks it is seen."""
    at = region.file_pos
    for layout in layouts:
        if region.end - at >= layout.size:
            yield from layout_lines(buf, at, layout, _title(region))
            at += layout.size
    yield from bytes_line(buf, at, region.end, _title(region), rest)


def _messages(buf: memoryview, region: Region, header: int, at: int) -> Iterator[Line]:
    pos = region.file_pos
    while pos < region.end:
        size = header + RECORD_START.unpack(buf, pos + header)["total_size"]
        if pos + size > at:
            yield from message_lines(buf, pos, header)
        pos += size


def message_lines(buf: memoryview, at: int, header: int) -> Iterator[Line]:
    """A line for each part of the message whose `header` bytes, none or those of a DLedger entry, begin at `at`.

    Raises StoreFormatError where no message is.
    """
    message = decode_message(buf, at + header)
    form = parts(message.magic_code, message.sys_flag)
    size = header + message.total_size
    group = f"message at {at}, {size} bytes: {printable(message.topic)} {message.queue_id}"
    for layout in _header_layouts(header):
        yield from layout_lines(buf, at, layout, group)
    pos = at + header
    for role, layout in form.before_body():
        if role in ("born_host", "store_host"):
            text = decode_host(buf, layout, pos).text
            yield from bytes_line(buf, pos, pos + layout.size, group, role, text, layout.title)
        else:
            yield from layout_lines(buf, pos, layout, group)
        pos += layout.size
    end = pos + len(message.body)
    yield from body_lines(buf, pos, message, group)
    yield from _counted(buf, end, form, message, group)


def _counted(buf: memoryview, at: int, form: Parts, message: Message, group: str) -> Iterator[Line]:
    """Topic and properties with the sizes before them."""
    yield from layout_lines(buf, at, form.topic_size, group)
    topic_at = at + form.topic_size.size
    size_at = topic_at + len(message.topic_stored)
    yield from bytes_line(buf, topic_at, size_at, group, "topic", printable(message.topic))
    yield from layout_lines(buf, size_at, form.properties_size, group)
    pos = size_at + form.properties_size.size
    end = pos + len(message.properties_stored)
    while pos < end:
        stored, separator, _ = bytes(buf[pos:end]).partition(ENTRY_END)
        name_stored, _, value_stored = stored.partition(NAME_END)
        entry_end = pos + len(stored) + len(separator)
        name, text = decode_utf8(name_stored), decode_utf8(value_stored)
        yield from bytes_line(
            buf, pos, entry_end, group, f"property {printable(name)}", printable(text), meaning_of(name, text)
        )
        pos = entry_end


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
        body = decompress(message.body, message.sys_flag, cap=MOST_DECODED_BYTES)
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
