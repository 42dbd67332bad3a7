"""A command of the command line whose answer is kept instead of printed: one rule, two doors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from parsers.values.java import property_text
from pipelines.cli.frame.asked.bundles import arguments_of, parameters_of
from pipelines.cli.frame.asked.options import BrokerOptions, Format, OutputOptions
from pipelines.cli.frame.call.addressed import stores_here
from pipelines.cli.frame.call.command import refuse_addresses
from pipelines.cli.frame.call.opening import NOTHING_SAID
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.error_sentence import explain_error
from pipelines.cli.frame.errors import ExitCode
from pipelines.cli.frame.visible import as_named
from rocketlens.document import Document
from rocketlens.errors import RocketlensError
from rocketlens.rows import Rows

if TYPE_CHECKING:
    import pyarrow as pa

    from recovery.knowledge.knowledge import Said
    from recovery.knowledge.topic_events import TopicEvent

Place = str | PathLike[str]
Instant = int | str | datetime
"""Epoch milliseconds, ISO 8601 (UTC when no zone is named), or an instant of Python's."""


def broker_options(
    version: str | None, config: Mapping[str, object] | None, broker_conf: Place | None
) -> BrokerOptions:
    """What the caller says of a broker, as the command line takes it."""
    pairs = [f"{name}={property_text(value)}" for name, value in (config or {}).items()]
    return BrokerOptions(version, pairs or None, None if broker_conf is None else Path(broker_conf))


class Gathered(Run):
    """Keeps tables, documents, notes and what was not read."""

    def __init__(self, format_: Format, columns: Sequence[str] | None, limit: int | None) -> None:
        listed = None if columns is None else ",".join(columns)
        super().__init__(OutputOptions(format_, None, listed, limit, quiet=True))
        self.tables: list[pa.Table] = []
        self.documents: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.sentences: list[str] = []

    def reads(self, place: Path) -> None:
        """Nothing is printed here, so only folders that are named are kept from being written to."""
        self.guard.reads(place)

    def emit(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, brief: tuple[str, ...] = ()) -> None:
        import pyarrow as pa

        from pipelines.cli.frame.written.output import pick_columns

        chosen = pa.schema([schema.field(name) for name in pick_columns(schema, self.columns)])
        kept = [batch.select(chosen.names) for batch in self._limited(batches)]
        self.tables.append(pa.Table.from_batches(kept, schema=chosen))

    def emit_documents(self, documents: Iterable[dict[str, Any]], *, one: bool = False) -> None:
        self.documents += map(_as_named, documents)

    def note(self, text: str) -> None:
        self.notes.append(as_named(text))

    def not_read(self, sentence: str, broker: str | None = None) -> None:
        self.unread += 1
        self.sentences.append(as_named(sentence if broker is None else f"{broker}: {sentence}"))


def _as_named(value: Any) -> Any:
    """A document in which each store is named as the caller named it."""
    if isinstance(value, dict):
        return {name: _as_named(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_as_named(each) for each in value]
    return as_named(value) if isinstance(value, str) else value


def rows_of(
    body: Callable[..., None],
    broker: BrokerOptions = NOTHING_SAID,
    *,
    columns: Sequence[str] | None = None,
    limit: int | None = None,
    **given: Any,
) -> Rows:
    """The rows of a command. Raises RocketlensError."""
    run = _carried_out(body, broker, Gathered(Format.ARROW, columns, limit), given)
    (table,) = run.tables
    return Rows(table, tuple(run.sentences), tuple(run.notes))


def document_of(body: Callable[..., None], broker: BrokerOptions, **given: Any) -> Document:
    """The document of a command. Raises RocketlensError."""
    run = _carried_out(body, broker, Gathered(Format.JSON, None, None), given)
    (document,) = run.documents
    return Document(document, tuple(run.sentences), tuple(run.notes))


def _carried_out(body: Callable[..., None], broker: BrokerOptions, run: Gathered, given: dict[str, Any]) -> Gathered:
    if any(parameter.annotation is BrokerOptions for parameter in parameters_of(body)):
        given["broker"] = broker
    with sentences(), stores_here(given) as here:
        refuse_addresses(here)
        body(run, **arguments_of(body, here))
    return run


def said_of(broker: BrokerOptions) -> Said:
    """What the options say of a broker, as recovery takes it.

    Raises RocketlensError: a text that is no version, or a wrong setting.
    """
    from pipelines.cli.frame.call.opening import said_by

    with sentences():
        return said_by(Gathered(Format.JSON, None, None), broker)


class TopicsTold(NamedTuple):
    """What the logs of a broker say of its topics; what of them could not be read, and remarks, a sentence each."""

    events: tuple[TopicEvent, ...]
    unread: tuple[str, ...]
    notes: tuple[str, ...]


def topics_told(logs: Sequence[Path], root: Path, said: Said) -> TopicsTold:
    """When topics of the store at `root` were created and deleted.

    Raises RocketlensError: a path that is not there, or no store.
    """
    from pipelines.cli.frame.call.beside.topic_logs import lines_told
    from pipelines.recordings.topic_log import topic_events
    from recovery.knowledge.inference import broker_name_in
    from recovery.knowledge.knowledge import open_known

    run = Gathered(Format.JSON, None, None)
    if not logs:
        return TopicsTold((), (), ())
    with sentences():
        own = said.broker_name or broker_name_in(open_known(root, said))
        events = tuple(topic_events(lines_told(run, logs, own)))
    return TopicsTold(events, tuple(run.sentences), tuple(run.notes))


@contextmanager
def sentences() -> Iterator[None]:
    """Turn what goes wrong into one sentence, as the command line does; a fault of rocketlens itself stays as it is.

    Raises:
        RocketlensError: from the error behind it.
    """
    try:
        yield
    except RocketlensError:
        raise
    except Exception as error:
        sentence, code = explain_error(error)
        if code == ExitCode.FAULT:
            raise
        raise RocketlensError(as_named(sentence)) from error


@contextmanager
def at_hand(store: Path) -> Iterator[Path]:
    """The folder of a store while it is asked; one at an address is listed anew, its bytes come as they are touched.

    Raises RocketlensError for whatever goes wrong in the block, as `sentences`.
    """
    with sentences(), stores_here({"store": store}) as here:
        refuse_addresses(here)
        yield here["store"]


def instant(at: Instant | None) -> str | None:
    """An instant as the command line takes it; a `datetime` without a zone is UTC."""
    return at.isoformat() if isinstance(at, datetime) else None if at is None else str(at)
