"""A recorded cluster as one history: who owned which queue, what went wrong, and which messages that exposed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from parsers.config.topics import read_topics
from parsers.damage.errors import unheard
from parsers.queues.queue import BatchQueue
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from pipelines.recordings.recordings import Recording, facts_of, find_recordings
from pipelines.report.facts.model import QUEUE, Column, Facts, PrintedTable, Row, numbers, texts
from pipelines.report.facts.store import tell_ownership, with_instants
from pipelines.report.sections.ownership import in_short, short_names
from rebalance.diagnosis.exposures import Exposure
from rebalance.model.message_queue import MessageQueue
from rebalance.replay import Replay, replay
from rebalance.what_if import what_if
from recovery.knowledge.knowledge import open_known
from recovery.query.by_time.queue import search_of
from recovery.scan.log_access import LogAccess

SOURCES = texts("kind", "whose", "files")
INCIDENTS = [
    Column("begin_at", "no earlier than"),
    Column("end_at", "no later than"),
    Column("kind", "what happened"),
    Column("subject", "to whom"),
    Column("detail", "seen as"),
    Column("evidence", "where"),
]
METRICS = [
    *texts("group", "topic"),
    *numbers("queues"),
    Column("processes", "clients", True),
    Column("moved_queues", "queues moved", True),
    *numbers("imbalance"),
    Column("owned_s", "owned, s", True),
    Column("unowned_s", "unowned, s", True),
    Column("double_owned_s", "owned twice, s", True),
    Column("uncertain_s", "uncertain, s", True),
]
STRATEGIES = [
    *texts("strategy"),
    Column("moved_queues", "queues moved", True),
    Column("widest_gap", "widest gap between two shares", True),
    Column("members_then", "clients at that time", True),
    Column("unowned", "left without owner", True),
    Column("shared", "given to several", True),
]
EXPOSED = [
    *texts("topic"),
    QUEUE,
    Column("kind", "how"),
    Column("from_client", "had it"),
    Column("to_client", "took it"),
    *numbers("from_queue_offset"),
    Column("to_queue_offset", "up to, not with", True),
    *numbers("messages"),
    Column("cause", "because"),
]

NOTES = [Column("group", "group", blank=True), Column("kind", "what"), Column("subject", "of"), Column("detail", "why")]


@dataclass(frozen=True, slots=True)
class Cluster:
    """The recordings that were found, what of them could not be read, and the replay of the rest."""

    recordings: Sequence[Recording]
    problems: Sequence[str]
    fact_count: int
    replay: Replay

    @property
    def facts(self) -> Facts:
        """In the form the sections of the report take."""
        facts = Facts("recordings", 0)
        tell_ownership(facts, self.replay)
        return facts

    def sources(self) -> PrintedTable:
        """One row per log or capture."""
        rows = [
            {"kind": found.kind, "whose": found.source, "files": ", ".join(path.name for path in found.paths)}
            for found in self.recordings
        ]
        return PrintedTable(SOURCES, rows, f"{self.fact_count:,} facts, {len(self.problems)} problems")

    def incidents(self) -> PrintedTable:
        """What happened to clients, brokers and topics, each with the window it happened in."""
        rows = [
            with_instants({**asdict(row), "from_ms": row.earliest_ms, "to_ms": row.latest_ms})
            for row in self.replay.incidents
        ]
        return PrintedTable(INCIDENTS, rows)

    def metrics(self) -> PrintedTable:
        """Per group and topic: hand-overs, imbalance, and time owned, unowned, owned twice and uncertain in seconds."""
        spans = ("owned", "unowned", "double_owned", "uncertain")
        rows = [
            {**asdict(row), **{f"{name}_s": getattr(row, f"{name}_ms") / 1000 for name in spans}}
            for row in self.replay.metrics()
        ]
        return PrintedTable(METRICS, rows)

    def strategies(self, names: Iterable[str], *, more_clients: int = 0, more_queues: int = 0) -> PrintedTable:
        """Replay the history under each strategy: queues moved in all, and the widest gap between two shares.

        Raises ValueError for a name that is none.
        """
        rows: list[Row] = []
        for name in names:
            spans = what_if(self.replay, strategy=name, more_clients=more_clients, more_queues=more_queues)
            gap, members = max(((s.largest_share - s.smallest_share, s.members) for s in spans), default=(0, 0))
            rows.append(
                {
                    "strategy": name,
                    "moved_queues": sum(span.moved_queues for span in spans),
                    "widest_gap": gap,
                    "members_then": members,
                    "unowned": sum(span.unowned for span in spans),
                    "shared": sum(span.shared for span in spans),
                }
            )
        return PrintedTable(STRATEGIES, rows)

    def notes(self) -> PrintedTable:
        """What in the record makes answers wider, and why."""
        return PrintedTable(NOTES, [asdict(note) for note in self.replay.notes])

    def exposed(self, store: Path | None = None, *, shown: int = 16) -> PrintedTable:
        """Messages that two owners may both have consumed; with a broker's store, only those of its queues that are
        there.

        Raises NotAStore.
        """
        queues = None if store is None else _Queues(open_known(store), {row.broker for row in self.replay.intervals})
        names = short_names(client for row in self.replay.exposures for client in row.clients)
        rows = [_exposed_row(row, queues, names) for row in self.replay.exposures]
        seen = [row for row in rows if row["messages"] != 0]
        known = sum(row["messages"] or 0 for row in seen)
        told = f"{known:,} messages in {len(seen)} hand-overs and overlaps"
        if queues is not None and queues.broker is None:
            told += "; whose store it is cannot be told, so it limits none"
        return PrintedTable(EXPOSED, seen, told, shown)

    @property
    def middle_ms(self) -> int:
        """Halfway between the first and the last certain begin of an ownership, epoch ms; 0 without any."""
        known = [interval.begin_latest for interval in self.replay.intervals]
        return (min(known) + max(known)) // 2 if known else 0


def read_cluster(places: Iterable[Path]) -> Cluster:
    """Read every log and capture in files and folders, and replay them. Raises FileNotFoundError."""
    recordings, problems = find_recordings(places), list[str]()
    facts = [fact for recording in recordings for fact in facts_of(recording, problems.append)]
    return Cluster(recordings, problems, len(facts), replay(facts))


class _Queues:
    """Where the queues of one broker's store end, now and at an instant; None for those of another broker.

    Args:
        brokers: those that the recordings tell of, the store's among them.
    """

    def __init__(self, store: Store, brokers: Collection[str]) -> None:
        self.broker = _broker_of(store, brokers)
        self._log = LogAccess(store.commitlog)
        self._queues = StoreQueues(store, damage=unheard)
        self._ends = {key: queue.ends(self._log.min_physical_offset)[1] for key, queue in self._queues.items()}

    def end(self, queue: MessageQueue) -> int | None:
        """The next queue offset; a queue that the store does not have never got a message."""
        if self._queues.unread is not None:
            return None
        return self._ends.get((queue.topic, queue.queue_id), 0) if queue.broker_name == self.broker else None

    def end_at(self, queue: MessageQueue, at_ms: int) -> int | None:
        """The next queue offset as of an instant; None where the store cannot tell."""
        kept = self._queues.get((queue.topic, queue.queue_id)) if queue.broker_name == self.broker else None
        if kept is None or isinstance(kept, BatchQueue):
            return None
        return search_of(kept, self._log).bounded(at_ms + 1, "lower")


def _broker_of(store: Store, brokers: Collection[str]) -> str | None:
    """Whose store it is: a broker has a topic of its own name. None if that does not tell one of several apart.

    Source: TopicConfigManager, the constructor's topic of `brokerConfig.getBrokerName()` @4.4.0 - 5.3.3.
    """
    if len(brokers) == 1:
        return next(iter(brokers))
    topics = {topic.topic for _, topic in read_topics(store.config, damage=unheard)}
    named = [broker for broker in brokers if broker in topics]
    return named[0] if len(named) == 1 else None


def _exposed_row(row: Exposure, queues: _Queues | None, names: Mapping[str, str]) -> Row:
    first, end = row.from_queue_offset, row.to_queue_offset
    if queues is not None:
        queue, stopped_ms = MessageQueue(row.topic, row.broker, row.queue_id), row.stored_before_ms
        # what was stored after the first owner had stopped it cannot have had
        ends = (end, queues.end(queue), None if stopped_ms is None else queues.end_at(queue, stopped_ms))
        end = min((known for known in ends if known is not None), default=None)
    messages = None if first is None or end is None else max(0, end - first)
    return {
        **with_instants(asdict(row)),
        "from_client": names[row.clients[0]],
        "to_client": names[row.clients[1]],
        "to_queue_offset": end,
        "messages": messages,
        "cause": in_short(row.cause, names),
    }
