"""One line of an explanation: some bytes, the field they are, and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from parsers.layouts.layout import Field, Layout

HEX_SHOWN = 16
TEXT_SHOWN = 100
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Line:
    """Bytes `file_pos` to `file_pos + length`, in hex (the first 16), with their field, value and meaning.

    `group` names the structure they belong to (`unit 3`, `message at 1024`); lines of one group follow each other.
    """

    file_pos: int
    length: int
    hex: str
    group: str
    field: str
    value: str
    meaning: str

    @property
    def end(self) -> int:
        return self.file_pos + self.length


def bytes_line(
    buf: memoryview, at: int, end: int, group: str, field: str, value: str = "", meaning: str = ""
) -> Iterator[Line]:
    """One line for a stretch of bytes; none for an empty one."""
    if end > at:
        shown = bytes(buf[at : min(end, at + HEX_SHOWN)]).hex()
        more = "…" if end - at > HEX_SHOWN else ""
        yield Line(at, end - at, shown + more, group, field, value, meaning)


def layout_lines(buf: memoryview, at: int, layout: Layout, group: str) -> Iterator[Line]:
    """A line for each field of a structure. Raises TruncatedRecord when it is not all there."""
    row = layout.unpack(buf, at)
    for field in layout.fields:
        start = at + layout.offsets[field.name]
        value = field_value(field, row[field.name])
        yield from bytes_line(buf, start, start + field.width, group, field.name, value, field.meaning)


def field_value(field: Field, number: int) -> str:
    """The number as its field is read: magics in hex, times with their instant."""
    if field.name.startswith("magic") or field.name == "sys_flag":
        return f"{number & 0xFFFFFFFF:#x}"
    if field.name.endswith(("_timestamp", "_time_ms", "timestamp_ms")):
        return f"{number} = {instant_text(number)}"
    return str(number)


def instant_text(epoch_ms: int) -> str:
    """UTC with milliseconds, or a word for an instant that no calendar holds."""
    try:
        instant = EPOCH + timedelta(milliseconds=epoch_ms)
    except OverflowError:
        return "beyond the calendar"
    return instant.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def printable(text: str) -> str:
    """At most 100 characters on one line, control characters escaped."""
    more = "…" if len(text) > TEXT_SHOWN else ""
    return "".join(map(_shown, text[:TEXT_SHOWN])) + more


def _shown(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def render(lines: Iterable[Line]) -> Iterator[str]:
    """Plain text: a heading for each structure, then position, bytes, field, value, meaning."""
    group = None
    for line in lines:
        if line.group != group:
            group = line.group
            yield group
        meaning = f"  ({line.meaning})" if line.meaning else ""
        value = f" = {line.value}" if line.value else ""
        yield f"  {line.file_pos:>12}  {line.hex:<33}  {line.field}{value}{meaning}  [{line.length}]"
