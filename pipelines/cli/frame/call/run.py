"""One call of the command line: where its rows go, what it says on stderr, how it ends."""

from __future__ import annotations

import os
import stat
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from parsers.evidence.guard import EvidenceGuard, NewFile
from parsers.evidence.supplied import confirm_supplied
from pipelines.cli.frame.asked.options import Format, OutputOptions
from pipelines.cli.frame.errors import ExitCode, WrongUsage
from pipelines.cli.frame.visible import as_named, say, visible

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.damage.errors import Damage
    from parsers.store.store import Store

T = TypeVar("T")

NAMED_RANGES = 1000
"""Unread ranges named one by one; further ones are counted."""

NAMED_COLUMNS = 6
"""Columns that a table leaves out and that are named; of further ones it is said that there are some."""

BY_ENDING = {f".{kind.value}": kind for kind in Format if kind is not Format.TABLE} | {".txt": Format.TABLE}


class Run:
    """Handed to every command as its first argument."""

    def __init__(self, options: OutputOptions) -> None:
        self.options = options
        self.exit_code: int = ExitCode.FINE
        self.unread = 0
        self.not_read_of: list[tuple[str | None, str]] = []  # of which broker, and the sentence: those that were said
        self.rows = 0
        self.of_one_file = False
        self.tells_where = False  # where the output was written, also where nobody watches
        self.gave_nothing = False  # what was there to read gave nothing at all
        self.stores: list[Store] = []  # those that were opened
        self.guard = EvidenceGuard()
        self._out: BinaryIO | None = None
        self._new: NewFile | None = None

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the output: complete when the body ended well, removed when it did not."""
        new, self._new, self._out = self._new, None, None
        if new is None:
            return
        if kind is not None:
            new.discard()
            return
        new.commit()
        if sys.stderr.isatty() or self.tells_where:
            self.note(f"written to {self.options.out}")

    # Output

    @property
    def format_(self) -> Format:
        """The format asked for; else that of the ending of --out; else table on a terminal, jsonl in a pipe."""
        if self.options.format_ is not None:
            return self.options.format_
        if self.options.out is not None:
            return BY_ENDING.get(self.options.out.suffix.lower(), Format.JSONL)
        return Format.TABLE if sys.stdout.isatty() else Format.JSONL

    @property
    def columns(self) -> list[str] | None:
        """Names given with --columns, or None for all."""
        if self.options.columns is None:
            return None
        return [name.strip() for name in self.options.columns.split(",") if name.strip()]

    def reads(self, place: Path) -> None:
        """From now on `place`, a file or a folder with all that is in it, is evidence: nothing is written there.

        Raises:
            WouldTouchEvidence: the output goes there.
            WrongUsage: it is the whole file system, which is never walked.
        """
        if os.path.realpath(place) == place.absolute().anchor:
            raise WrongUsage(f"{place}: the whole file system; name the folder in which the files lie")
        self.guard.reads(place)
        if self.options.out is not None:
            self.guard.refuse(self.options.out, "--out")
        else:
            self._keep_standard_output_out()

    def _keep_standard_output_out(self) -> None:
        """A shell may have put standard output at the end of a file of evidence."""
        try:
            seen = os.fstat(sys.stdout.fileno())
        except (OSError, ValueError):  # a stream of Python's own
            return
        if stat.S_ISREG(seen.st_mode):
            self.guard.refuse_known([(seen.st_dev, seen.st_ino)], Path("/dev/stdout"), "standard output")

    def emit(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, brief: tuple[str, ...] = ()) -> None:
        """Write rows as they come. `brief` names the columns a table shows when nobody chose any."""
        from pipelines.cli.frame.written.output import open_sink, pick_columns

        wanted = pick_columns(schema, self.columns)
        batches = iter(batches)
        first = list(islice(batches, 1))  # what is read is known before anything is written
        shown = (
            wanted if self.columns or self.format_ is not Format.TABLE else [n for n in brief or wanted if n in wanted]
        )
        chosen = _select(schema, wanted if self.format_ is not Format.TABLE else shown)
        sink = open_sink(self.format_, chosen, self.output(), self.note)
        before = self.rows
        for batch in self._wanted_rows(chain(first, batches)):
            confirm_supplied()
            self.rows += batch.num_rows
            sink.write(batch.select(chosen.names))
        sink.close()
        if self.format_ is Format.TABLE and self.rows == before:
            self.note("no rows")
        elif len(shown) < len(wanted):
            hidden = [name for name in wanted if name not in shown]
            named = ", ".join(hidden[:NAMED_COLUMNS]) + (", …" if len(hidden) > NAMED_COLUMNS else "")
            self.note(f"not shown: {named}: choose with --columns, or take --format jsonl")

    def emit_rows(
        self, columns: str | pa.Schema, rows: Iterable[dict[str, Any]], *, brief: tuple[str, ...] = ()
    ) -> None:
        """Emit results that come row by row; `columns`: a schema, or what `schema_from` makes one of."""
        from parsers.layouts.columns import schema_from

        schema = schema_from(columns) if isinstance(columns, str) else columns
        self.emit(schema, batches_of(schema, rows), brief=brief)

    def emit_documents(self, documents: Iterable[dict[str, Any]], *, one: bool = False) -> None:
        """Write JSON documents, one a line; a single one indented when --format json was asked for."""
        from pipelines.cli.frame.written.documents import write_documents

        if self.format_ not in (Format.JSON, Format.JSONL, Format.TABLE):
            raise WrongUsage(f"--format {self.format_.value}: this answer is a document; take json or jsonl")
        write_documents(confirmed(documents), self.output(), indented=one and self.format_ is not Format.JSONL)

    def write_lines(self, lines: Iterable[str]) -> None:
        """Plain text, line by line as it comes."""
        out = self.output()
        for line in confirmed(lines):
            out.write(f"{visible(as_named(line))}\n".encode())

    def print(self, renderable: Any) -> None:
        """Show text or a rich renderable to a person, on the output."""
        from pipelines.cli.frame.written.documents import console_on

        console_on(self.output()).print(renderable)

    def output(self) -> BinaryIO:
        """Where bytes go: standard output, or a file beside --out that takes its name when all went well.

        Raises:
            WrongUsage: the system refuses to write there.
            WouldTouchEvidence: it lies in what is read.
        """
        if self._out is None:
            self._out = sys.stdout.buffer if self.options.out is None else self._opened_out(self.options.out)
        return self._out

    def _opened_out(self, out: Path) -> BinaryIO:
        try:
            self._new = NewFile(out, self.guard, "--out")
        except (OSError, ValueError) as refused:  # ValueError: no name at all
            why = refused.strerror if isinstance(refused, OSError) else refused
            raise WrongUsage(f"--out {out}: cannot be written: {why}") from refused
        return self._new.file

    def _wanted_rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if self.options.tail is None:
            return self._limited(batches)
        if self.options.limit is not None:
            raise WrongUsage("--limit, --tail: the first rows or the last ones, not both")
        return iter(last_rows(batches, self.options.tail))

    def _limited(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        left = self.options.limit
        for batch in batches:
            if left is None:
                yield batch
            elif left > 0:
                yield batch.slice(0, left)
                left -= min(left, batch.num_rows)
            if left == 0:
                return

    # What is said on stderr, and how it ends

    def note(self, text: str) -> None:
        """A remark for a person; --quiet drops it."""
        if not self.options.quiet:
            say(text)

    def hint_at_names(self, topic: str | None, group: str | None) -> None:
        """Where nothing was answered, and no store that was opened has the topic or the group that was asked for: the
        names that are nearest to it. One that is in no file that lists such names is wrong usage: who watches a group
        by a wrong name is not told that all is well."""
        if self.rows or not self.stores or not (topic or group):
            return
        from pipelines.answers.names_known import groups_named, is_no_topic, nearest, topics_named

        topics = set[str]().union(*map(topics_named, self.stores))
        if topic and topics and topic not in topics:
            near = f"the nearest names are {nearest(topic, topics)}"
            self._unknown(
                f"no queue of a topic {topic!r} in this store; {near}",
                is_sure=all(is_no_topic(store, topic) for store in self.stores),
            )
        groups = set[str]().union(*map(groups_named, self.stores)) if group else set[str]()
        if group and group not in groups:
            near = f"; the nearest names are {nearest(group, groups)}" if groups else ", and of no other"
            self._unknown(f"no file of this store tells of a group {group!r}{near}", is_sure=bool(groups))

    def _unknown(self, sentence: str, *, is_sure: bool) -> None:
        """A name that was asked for and is not found; it may be where something could not be read."""
        if not is_sure:
            self.note(sentence)
            return
        self.warn(sentence)
        if self.exit_code == ExitCode.FINE and not self.unread:
            self.exit_code = ExitCode.WRONG_USAGE

    def damage(self, found: Damage) -> None:
        """A range that could not be read: named on stderr, and the exit code says so."""
        words = (("expected", found.expected), ("found", found.actual))
        facts = "".join(f", {word} {fact}" for word, fact in words if fact)
        extent = f"{found.file_pos}..{found.file_pos + found.length}" if found.length else f"from {found.file_pos}"
        self.not_read(f"{found.path or 'input'} bytes {extent}: {found.reason}{facts}")

    def not_read(self, sentence: str, broker: str | None = None) -> None:
        """Something that should have been read and could not; of which broker of a lake, where it is of one."""
        self.unread += 1
        if self.unread <= NAMED_RANGES:
            self.not_read_of.append((broker, sentence))
            say(f"not read: {sentence}" if broker is None else f"not read: {broker}: {sentence}")

    def warn(self, sentence: str) -> None:
        """Something beside the answer that failed; --quiet does not drop it."""
        say(sentence)

    def findings(self, found: int) -> None:
        """Exit code 1 if anything was found."""
        if found:
            self.exit_code = ExitCode.FINDINGS

    def ends_with(self, code: int) -> None:
        """The exit code of a program that ran in this command's place."""
        self.exit_code = code

    def finish(self) -> None:
        """After the body: flush, and settle the exit code."""
        if self._out is not None:
            self._out.flush()
        if self.unread > NAMED_RANGES:
            say(f"and {self.unread - NAMED_RANGES} more ranges not read")
        if self.unread and self.exit_code == ExitCode.FINE:
            nothing = self.gave_nothing or (self.of_one_file and not self.rows)
            self.exit_code = ExitCode.UNREADABLE if nothing else ExitCode.READ_IN_PART

    def reader_has_gone(self) -> None:
        """The other end of the pipe closed: nothing more to say, and nothing to flush at exit."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _select(schema: pa.Schema, names: list[str]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([schema.field(name) for name in names])


def confirmed(told: Iterable[T]) -> Iterator[T]:
    """What is told, each once the bytes that it was made from are known to be those of the store."""
    for each in told:
        confirm_supplied()
        yield each


def last_rows(batches: Iterable[pa.RecordBatch], count: int) -> list[pa.RecordBatch]:
    """The last `count` rows; no more batches are held than they lie in."""
    kept: deque[pa.RecordBatch] = deque()
    held = 0
    for batch in batches:
        kept.append(batch)
        held += batch.num_rows
        while kept and held - kept[0].num_rows >= count:
            held -= kept.popleft().num_rows
    if kept:
        kept[0] = kept[0].slice(held - min(held, count))
    return list(kept)


def batches_of(schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    """Rows in batches of a few thousand."""
    import pyarrow as pa

    source = iter(rows)
    while chunk := list(islice(source, 4096)):
        yield pa.RecordBatch.from_pylist(chunk, schema=schema)
