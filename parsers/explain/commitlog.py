"""CommitLog files: every field of every record, and what lies between records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.commitlog.batches.segment import regions_of
from parsers.commitlog.dledger_headers.layout import ENTRY_HEADER, ENTRY_START, header_size
from parsers.commitlog.files.region import Region
from parsers.commitlog.record.host import decode_host
from parsers.commitlog.record.layout import HEAD, RECORD_START, Parts, parts
from parsers.commitlog.record.message import Message, decode_message
from parsers.evidence.mapped import map_file
from parsers.explain.body import body_lines
from parsers.explain.line import Line, bytes_line, layout_lines, printable
from parsers.layouts.layout import Layout
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
