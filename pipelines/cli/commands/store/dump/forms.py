"""The forms in which `dump commitlog` shows messages: as they are, as a producer sends them, or what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.damage.errors import StoreFormatError

PLACE_BRIEF = ("physical_offset", "topic", "queue_id", "queue_offset", "store_timestamp")
BRIEF = (*PLACE_BRIEF, "body_size", "tags", "keys", "unique_id")
BODIES_BRIEF = (*PLACE_BRIEF, "tags", "keys", "body_decompressed")
DECODED_BRIEF = ("physical_offset", "kind", "record_no", "said")
BODIES = ("body", "body_decompressed")


@dataclass(frozen=True, slots=True)
class FormOptions:
    """In which form messages are shown."""

    bodies: Annotated[
        bool,
        typer.Option(
            "--bodies",
            help="Add body (as stored) and body_decompressed, in a table as text or hexadecimal, in JSON as base64; "
            "and body_text, where it is UTF-8.",
        ),
    ] = False
    sendable: Annotated[
        bool,
        typer.Option("--sendable", help="Only what a producer says of a message, to send it again (docs/resend.md)."),
    ] = False
    decode: Annotated[
        bool,
        typer.Option(
            "--decode",
            help="What messages of brokers and clients say instead, a row for each record: POP's, op messages, "
            "traces, timers and others (docs/formats/messages.md).",
        ),
    ] = False

    def chosen(self) -> Form:
        """Raises WrongUsage: two forms that exclude each other."""
        if self.sendable and self.bodies:
            raise WrongUsage("--sendable, --bodies: what can be sent again has its body as the producer handed it over")
        if self.decode and (self.sendable or self.bodies):
            raise WrongUsage("--decode shows records instead of messages: it goes without --sendable and --bodies")
        return Decoded() if self.decode else Sendable() if self.sendable else Stored(bodies=self.bodies)


class Form(Protocol):
    """One form: which columns of messages it is made from, and the rows that come of them."""

    def columns(self, run: Run) -> list[str]:
        """The columns of messages that it needs. Raises WrongUsage: --columns names one that it does not have."""

    def emit(self, run: Run, batches: Iterable[pa.RecordBatch]) -> None:
        """Write the rows of the messages."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Every header field, and with `bodies` the bodies."""

    bodies: bool

    @property
    def schema(self) -> pa.Schema:
        import pyarrow as pa

        from parsers.commitlog.batches.schema import ALL_COLUMNS, MESSAGE_SCHEMA
        from pipelines.selection.selector import BODY_TEXT

        added = [*(ALL_COLUMNS.field(name) for name in BODIES), BODY_TEXT] if self.bodies else []
        return pa.schema([*MESSAGE_SCHEMA, *added])

    def columns(self, run: Run) -> list[str]:
        from pipelines.cli.frame.written.output import pick_columns

        return pick_columns(self.schema, run.columns)

    def emit(self, run: Run, batches: Iterable[pa.RecordBatch]) -> None:
        run.emit(self.schema, batches, brief=BODIES_BRIEF if self.bodies else BRIEF)


class Sendable:
    """What a producer says of a message; records that are no messages to send are counted and left out."""

    def columns(self, run: Run) -> list[str]:
        from pipelines.selection.sendable import BODY, JUDGED, NEEDED

        return [*NEEDED, *JUDGED, BODY]

    def emit(self, run: Run, batches: Iterable[pa.RecordBatch]) -> None:
        from pipelines.selection.sendable import DAMAGE, SENDABLE, sendable

        left_out: Counter[str] = Counter()

        def whole_ones() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                whole, others = sendable(batch)
                left_out.update(others)
                yield whole

        run.emit(SENDABLE, whole_ones(), brief=BRIEF)
        for kind, count in left_out.items():
            if kind in DAMAGE:
                run.not_read(f"{count} messages are left out: {kind}")
            else:
                run.note(f"{count} records are no messages to send, and left out: {kind}")


class Decoded:
    """What messages of brokers and clients say, a row for each record."""

    def columns(self, run: Run) -> list[str]:
        from pipelines.selection.decoded import NEEDED

        return [*NEEDED]

    def emit(self, run: Run, batches: Iterable[pa.RecordBatch]) -> None:
        from pipelines.selection.decoded import DECODED, decoded_rows

        def unread(at: int, kind: str, why: StoreFormatError) -> None:
            run.not_read(f"message at {at} should be of kind {kind} and is not: {why.problem}")

        run.emit(DECODED, (rows for batch in batches for rows in decoded_rows(batch, unread)), brief=DECODED_BRIEF)
