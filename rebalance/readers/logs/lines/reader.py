"""Lines of one log -> the entries that some template knows; everything else counted and sampled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from rebalance.model import budget
from rebalance.model.timing import CPP_PULL_IDLE_MS
from rebalance.readers.logs.lines.boost import BOOST_START, boost_line
from rebalance.readers.logs.lines.logrus import LOGRUS_START, logrus_line
from rebalance.readers.logs.lines.stamp import MESSAGE_MARK, SECOND_TEXT, UNKNOWN_ZONE, Second, StampReader
from rebalance.readers.logs.lines.texts import channel_info
from rebalance.readers.logs.templates.table import ANCHORED, BY_START, UNREADABLE
from rebalance.readers.logs.templates.template import OFFSET_DIGITS, START_SIZE, Template

_MAX_SAMPLES = 256
_MAX_HEADS = 65_536
_MAX_WAITING = 50_000
_VERSION_BUMPED, _PULL_EXPIRED = "version_bumped", "cpp_pull_expired"


_Found = tuple[Template, tuple[str, ...]]
"""What a message is, and its fields."""


class LogEvent(NamedTuple):
    """One recognised entry: a row of `log_events`.

    Shape: `fields` are texts in the order of `template.field_names`; `record` is the line number, from 1; `line` the
        raw first line (a stack trace may follow it in the file).
    Units: `at_ms` epoch milliseconds of the writing host's clock; the true instant is at most `early_ms` before and
        `late_ms` after it.
    """

    template: Template
    at_ms: int
    early_ms: int
    late_ms: int
    record: int
    fields: tuple[str, ...]
    line: bytes

    @property
    def named_fields(self) -> dict[str, str]:
        """Field name -> text."""
        return dict(zip(self.template.field_names, self.fields, strict=True))

    @property
    def group(self) -> str | None:
        """The consumer group, where the entry names one."""
        return self.named_fields.get("group")

    @property
    def client_id(self) -> str | None:
        """The client id, where the entry names one: outright, or inside a connection's text."""
        fields = self.named_fields
        return fields.get("client_id") or channel_info(fields.get("channel_info", "")).client_id

    @property
    def head(self) -> tuple[str, ...]:
        """Level, then whatever the layout prints: thread or logger, or pid, thread and logger."""
        told = logrus_line(self.line)
        if told is not None:
            return (told.level,)
        line = boost_line(self.line) or self.line
        head = line[SECOND_TEXT : line.find(MESSAGE_MARK, SECOND_TEXT)].decode("utf-8", "replace").split()
        words = head[1:] if head and head[0].isdigit() else head
        return tuple(word.strip("[]") for word in words)


@dataclass
class LogSummary:
    """What a log held. `lines` = recognised + unreadable + unrecognised + continued + headless, always.

    Attributes:
        continued: lines that belong to the entry above them (stack traces).
        headless: lines before the first entry of the file, or heads that are no instant.
        unreadable: lines that start like a template and are cut or damaged.
        templates: how often each template was seen.
        samples: start of a message nobody recognised -> (how often, first line it was seen on).
        first, last: instants of the first and the last line that begins an entry, and their line numbers.
        jvm_zone_ms, zone_given: the zone used for heads in the JVM's zone; None if it stayed unknown.
    """

    lines: int = 0
    recognised: int = 0
    unreadable: int = 0
    unrecognised: int = 0
    continued: int = 0
    headless: int = 0
    templates: dict[str, int] = field(default_factory=dict)
    samples: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    first: tuple[Second, int] | None = None
    last: tuple[Second, int] | None = None
    jvm_zone_ms: int | None = None
    zone_given: bool = False


class LogReader:
    """Reads one log (a file, or its rotated parts one after the other), of a broker or a client, of any version.

    Args:
        jvm_zone_ms: ms east of GMT of the writing JVM, for client logs of 4.3.0 - 5.0.0. None: found from the lines
            that print their own instant (every rebalance that changes queues does); without one the entries' instants
            stay uncertain by all zones there are.
    """

    def __init__(self, *, jvm_zone_ms: int | None = None) -> None:
        self.summary = LogSummary()
        self._stamps = StampReader(jvm_zone_ms)
        self._waiting: list[LogEvent] = []
        self._waiting_bytes = 0
        self._heads: dict[bytes, _Found] = {}

    def events(self, lines: Iterable[bytes | str]) -> Iterator[LogEvent]:
        """Recognised entries in file order. Takes any bytes, never raises; `summary` is complete when it ends."""
        stamps, summary = self._stamps, self.summary
        known_seconds, starts = stamps.seconds, BY_START
        continued, in_entry = 0, summary.lines > summary.headless
        head = latest = b""
        head_record = latest_record = 0
        for record, given in enumerate(lines, start=summary.lines + 1):
            line = given if isinstance(given, bytes) else given.encode("utf-8", "surrogatepass")
            summary.lines = record
            second, text = known_seconds.get(line[:SECOND_TEXT]), line
            if second is None:
                second, text = self._head_of(line)
            if second is None:
                continued += 1
                continue
            if not in_entry:
                summary.headless, continued, in_entry = summary.headless + continued, 0, True
                head, head_record = line, record
            latest, latest_record = line, record
            message_at = text.find(MESSAGE_MARK, 0 if text is not line else SECOND_TEXT - 1) + len(MESSAGE_MARK)
            candidates = starts.get(text[message_at : message_at + START_SIZE]) or _anchored(text)
            event = self._recognise(text, message_at, second, candidates, record) if candidates else None
            if event is None:
                self._sample(text, message_at, record)
            elif event.early_ms:
                yield from self._wait_for_zone(event)
            else:
                yield event if text is line else event._replace(line=line)
        yield from self._release()
        if in_entry:
            summary.continued += continued
        else:
            summary.headless += continued
        summary.first, summary.last = self._placed(head, head_record), self._placed(latest, latest_record)
        summary.jvm_zone_ms, summary.zone_given = stamps.jvm_zone_ms, stamps.zone_given

    def _head_of(self, line: bytes) -> tuple[Second | None, bytes]:
        """The second of a line, None if it has no head; and the line, one of logrus's as the others are laid out."""
        if line[4:5] == b"-":
            return self._stamps.second(line), line
        if line.startswith(BOOST_START):
            text = boost_line(line)
            return (None, line) if text is None else (self._stamps.second(text), text)
        told = logrus_line(line) if line.startswith(LOGRUS_START) else None
        return (
            (None, line) if told is None else (Second(told.at_ms, 0, 999, False), MESSAGE_MARK + told.message.encode())
        )

    def _placed(self, line: bytes, record: int) -> tuple[Second, int] | None:
        second = self._head_of(line)[0] if record else None
        return None if second is None else (second, record)

    def _recognise(
        self, line: bytes, message_at: int, second: Second, candidates: tuple[Template, ...], record: int
    ) -> LogEvent | None:
        at_ms, early_ms, late_ms, has_millis = second
        if has_millis:
            millis = line[SECOND_TEXT : SECOND_TEXT + 3]
            if not millis.isdigit():
                return None
            at_ms += int(millis)
        repeated = self._repeated(line, message_at) if candidates[0].ends_with_offset else None
        template, fields = repeated or self._first_of(candidates, line, message_at)
        if template is UNREADABLE:
            if not fields:
                return None
            self.summary.unreadable += 1
        else:
            if template.name == _VERSION_BUMPED:
                self._stamps.learn_zone(line, int(fields[2]))
            elif template.name == _PULL_EXPIRED:
                self._stamps.learn_zone(line, int(fields[1]) + int(fields[2]) + CPP_PULL_IDLE_MS)
            self.summary.recognised += 1
            counts = self.summary.templates
            counts[template.name] = counts.get(template.name, 0) + 1
        return LogEvent(template, at_ms, early_ms, late_ms, record, fields, line)

    def _first_of(self, candidates: tuple[Template, ...], line: bytes, message_at: int) -> _Found:
        """The first template that a message is; else one that it starts like; else UNREADABLE without a field."""
        message = line[message_at:].decode("utf-8", "replace").rstrip()
        for template in candidates:
            fields = template.fields_of(message)
            if fields is not None:
                if template.ends_with_offset:
                    self._remember(line, message_at, (template, fields))
                return template, fields
        for template in candidates:
            if len(template.literals[0]) > START_SIZE and message.startswith(template.literals[0]):
                return UNREADABLE, (template.name,)
        return UNREADABLE, ()

    def _repeated(self, line: bytes, message_at: int) -> _Found | None:
        """A message that is one before it but for the offset at its end, as the commits of a queue are, all day."""
        offset_at = line.rfind(b" ") + 1
        known = self._heads.get(line[message_at:offset_at])
        if known is None:
            return None
        queue_offset = line[offset_at:].rstrip()
        if not queue_offset.isdigit() or len(queue_offset) > OFFSET_DIGITS:
            return None
        template, fields = known
        return template, (*fields, queue_offset.decode())

    def _remember(self, line: bytes, message_at: int, found: _Found) -> None:
        template, fields = found
        offset_at = line.rfind(b" ") + 1
        if line[offset_at:].rstrip() == fields[-1].encode():
            if len(self._heads) >= _MAX_HEADS:
                self._heads.clear()
            self._heads[line[message_at:offset_at]] = (template, fields[:-1])

    def _wait_for_zone(self, event: LogEvent) -> list[LogEvent]:
        """Entries whose zone is not known yet wait for the first line that tells it, up to a limit."""
        self._waiting.append(event)
        self._waiting_bytes += len(event.line)
        known = self._stamps.jvm_zone_ms is not None
        full = len(self._waiting) >= _MAX_WAITING or self._waiting_bytes > budget.WAITING_LINES_BYTES
        return self._release() if known or full else []

    def _release(self) -> list[LogEvent]:
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        zone_ms = self._stamps.jvm_zone_ms
        return waiting if zone_ms is None else [_in_zone(event, zone_ms) for event in waiting]

    def _sample(self, line: bytes, message_at: int, record: int) -> None:
        self.summary.unrecognised += 1
        samples = self.summary.samples
        start = line[message_at : message_at + 2 * START_SIZE]
        count, first = samples.get(start, (0, record))
        if count or len(samples) < _MAX_SAMPLES:
            samples[start] = (count + 1, first)


def _anchored(line: bytes) -> tuple[Template, ...] | None:
    for anchor, templates in ANCHORED:
        if anchor in line:
            return templates
    return None


def _in_zone(event: LogEvent, zone_ms: int) -> LogEvent:
    late_ms = event.late_ms - UNKNOWN_ZONE.late_ms
    return event._replace(at_ms=event.at_ms - zone_ms, early_ms=0, late_ms=late_ms)
