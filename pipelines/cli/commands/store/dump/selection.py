"""Which messages `dump commitlog` prints, and what is said of those that the files do not decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parsers.values.java import LONG_MAX
from pipelines.cli.frame.asked.options import (
    BrokerOptions,
    KeptOptions,
    QueueOption,
    TopicOption,
    instant_of,
    instant_option,
)
from pipelines.cli.frame.call.beside.kept_offsets import offsets_at
from pipelines.cli.frame.call.beside.topic_logs import with_logs
from pipelines.cli.frame.call.opening import is_file, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage

if TYPE_CHECKING:
    from parsers.commitlog.batches.read import MessageFilter
    from parsers.store.store import Store
    from pipelines.selection.selector import Selector
    from recovery.knowledge.inference import StoreKnowledge


@dataclass(frozen=True, slots=True)
class FieldOptions:
    """What the fields of a wanted message are."""

    topic: TopicOption = None
    queue: QueueOption = None
    key: Annotated[
        str | None, typer.Option(metavar="K", help="Only messages with this key (one of KEYS, or UNIQ_KEY).")
    ] = None
    since: Annotated[str | None, instant_option("Stored at or after")] = None
    until: Annotated[str | None, instant_option("Stored before")] = None
    from_offset: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=LONG_MAX, help="Physical offset (byte of the CommitLog) at or after."),
    ] = None
    to_offset: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=LONG_MAX, help="Physical offset (byte of the CommitLog) below."),
    ] = None

    def as_filter(self) -> MessageFilter:
        """Raises WrongUsage: a text that is no instant."""
        from parsers.commitlog.batches.read import MessageFilter

        return MessageFilter(
            topics=None if self.topic is None else [self.topic],
            queue_id=self.queue,
            key=self.key,
            min_physical_offset=self.from_offset,
            max_physical_offset=self.to_offset,
            since_ms=None if self.since is None else instant_of(self.since, "--since"),
            until_ms=None if self.until is None else instant_of(self.until, "--until"),
        )


@dataclass(frozen=True, slots=True)
class WantedOptions:
    """Which messages are wanted beyond what their fields say; None and False ask nothing."""

    unread_by: Annotated[
        str | None,
        typer.Option(
            metavar="G",
            help="Only what this consumer group has not read, by its stored offsets. To send it again: only where this "
            "broker never serves it again, and to a topic of its own where other groups read it (docs/resend.md).",
        ),
    ] = None
    lost_by_start: Annotated[
        bool,
        typer.Option("--lost-by-start", help="Only what the next start of the broker loses, read by groups or not."),
    ] = False
    body_contains: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only bodies that hold this text, decompressed.")
    ] = None
    where: Annotated[
        str | None,
        typer.Option(
            metavar="SQL",
            help="Only where this SQL condition over the columns is true; `property(properties, 'k')` is a property.",
        ),
    ] = None

    @property
    def asks_the_store(self) -> bool:
        """One file alone does not tell it."""
        return self.unread_by is not None or self.lost_by_start


def opened_for(
    run: Run, source: Path, wanted: WantedOptions, kept: KeptOptions, broker: BrokerOptions
) -> tuple[Store, StoreKnowledge]:
    """The store whose queues and offsets say which messages are wanted.

    Raises:
        WrongUsage: one file was named.
    """
    if is_file(source):
        raise WrongUsage(f"{source}: --unread-by and --lost-by-start need the store: queues and offsets decide them")
    opened, known = known_store_at(run, source, broker, names_version=wanted.lost_by_start)
    return opened, with_logs(run, known, kept.logs)


def of_store(
    run: Run, store: Store, known: StoreKnowledge, wanted: WantedOptions, topic: str | None, offsets: Path | None
) -> Iterator[Selector]:
    """Selectors that look at the whole store; what they leave open is named."""
    if wanted.unread_by is not None:
        from pipelines.selection.unread import NoSuchGroup, unread_by

        kept = offsets_at(run, store, offsets)
        try:
            unread = unread_by(store, known, kept.offsets, wanted.unread_by, topic)
        except NoSuchGroup as missing:
            raise Unreadable(f"{store.root}: {missing}") from missing
        yield _named(run, unread, unread.sentences)
    if wanted.lost_by_start:
        from pipelines.selection.lost import lost_by_start

        lost = lost_by_start(store, known)
        yield _named(run, lost, lost.sentences)


def _named(run: Run, selector: Selector, sentences: Sequence[str]) -> Selector:
    for sentence in sentences:
        run.not_read(sentence)
    return selector


def of_batch(wanted: WantedOptions) -> Iterator[Selector]:
    """Selectors that look at one message. Raises WrongUsage: the SQL is no condition."""
    if wanted.body_contains is not None:
        from pipelines.selection.selector import BodyContains

        yield BodyContains(wanted.body_contains)
    if wanted.where is not None:
        from pipelines.selection.selector import WrongCondition
        from pipelines.selection.where import Where

        try:
            yield Where.of(wanted.where)
        except WrongCondition as wrong:
            raise WrongUsage(f"--where: {wrong}") from wrong
