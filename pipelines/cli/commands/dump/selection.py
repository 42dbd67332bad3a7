"""Which messages `dump commitlog` prints, beyond what their fields say, and what is said of those it cannot decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.commands.lag import offsets_at
from pipelines.cli.frame.errors import Unreadable, WrongUsage
from pipelines.cli.frame.opening import is_file, known_store_at
from pipelines.cli.frame.options import BrokerOptions
from pipelines.cli.frame.run import Run
from pipelines.cli.frame.topic_logs import with_logs

if TYPE_CHECKING:
    from parsers.store import Store
    from pipelines.selection.selector import Selector
    from recovery.knowledge.inference import StoreKnowledge


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options ask for; None and False ask nothing."""

    topic: str | None = None
    unread_by: str | None = None
    lost_by_start: bool = False
    body_contains: str | None = None
    where: str | None = None
    offsets: Path | None = None
    logs: Sequence[Path] | None = None

    @property
    def asks_the_store(self) -> bool:
        """One file alone does not tell it."""
        return self.unread_by is not None or self.lost_by_start


def opened_for(run: Run, source: Path, broker: BrokerOptions, wanted: Wanted) -> tuple[Store, StoreKnowledge]:
    """The store whose queues and offsets say which messages are wanted.

    Raises:
        WrongUsage: one file was named.
    """
    if is_file(source):
        raise WrongUsage(f"{source}: --unread-by and --lost-by-start need the store: queues and offsets decide them")
    opened, known = known_store_at(run, source, broker, names_version=wanted.lost_by_start)
    return opened, with_logs(run, known, wanted.logs)


def of_store(run: Run, store: Store, known: StoreKnowledge, wanted: Wanted) -> Iterator[Selector]:
    """Selectors that look at the whole store; what they leave open is named."""
    if wanted.unread_by is not None:
        from pipelines.selection.unread import NoSuchGroup, unread_by

        kept = offsets_at(run, store, wanted.offsets, None)
        try:
            unread = unread_by(store, known, kept.offsets, wanted.unread_by, wanted.topic)
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


def of_batch(wanted: Wanted) -> Iterator[Selector]:
    """Selectors that look at one message. Raises WrongUsage: the SQL is no condition."""
    if wanted.body_contains is not None:
        from pipelines.selection.content import BodyContains

        yield BodyContains(wanted.body_contains)
    if wanted.where is not None:
        from pipelines.selection.selector import WrongCondition
        from pipelines.selection.where import Where

        try:
            yield Where.of(wanted.where)
        except WrongCondition as wrong:
            raise WrongUsage(f"--where: {wrong}") from wrong
