"""A forecast for reading: where the log breaks, what each repair changes, what is lost where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from parsers.explain.explain import explain
from parsers.store.places import name_below
from parsers.store.store import Store
from pipelines.answers.lag.lag import store_positions
from pipelines.answers.offsets.saved import offsets_of_store
from pipelines.recordings.lines import Problem
from pipelines.report.facts.model import QUEUE, Column, Facts, PrintedTable, Row, numbers, texts
from pipelines.report.facts.store import with_instants
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import Forecast, forecast
from recovery.forecast.outcome import Outcome
from recovery.knowledge.knowledge import NOTHING_SAID, Said, knowledge_of, open_known
from recovery.knowledge.topic_events import TopicEvent
from recovery.retention.retention import Retention, retention
from recovery.retention.risk import retention_risks
from recovery.rules.settings import StoreSettings

BYTES = [
    Column("file_pos", "byte", True),
    Column("length", "bytes", True),
    Column("hex", "hex", mono=True),
    *texts("field", "value", "meaning"),
]
WAYS = [
    Column("do", "what you do", advises=True),
    Column("lost_messages", "messages lost", True, blank=True),
    Column("lost_units", "missing in queues", True, blank=True),
    Column("lost_index", "missing in index", True, blank=True),
    Column("log_end_offset", "log ends at", True, blank=True),
    Column("why", "because", blank=True, advises=True),
    Column("costs", "it costs", blank=True),
]
LOST_BY_QUEUE = [
    *texts("what", "topic"),
    QUEUE,
    Column("count", "how many", True),
    *numbers("first_queue_offset", "last_queue_offset"),
]
QUEUES = [
    *texts("topic"),
    QUEUE,
    Column("min_queue_offset", "min after load", True),
    Column("max_queue_offset", "max after load", True),
    Column("min_queue_offset_after", "min when quiet", True),
    Column("max_queue_offset_after", "max when quiet", True),
]


@dataclass(frozen=True, slots=True)
class Break:
    """The first byte that a start gives up: it ends the log there."""

    file: Path
    file_pos: int
    physical_offset: int


@dataclass(frozen=True, slots=True)
class StartNow:
    """One store and what a start of one version would do with it."""

    store: Store
    settings: StoreSettings
    told: Forecast

    @property
    def document(self) -> dict[str, Any]:
        """The forecast as the document that the command line prints."""
        return forecast_document(self.told)

    @property
    def facts(self) -> Facts:
        """In the form the sections of the report take."""
        return Facts(str(self.store.root), 0, version=str(self.told.version), forecast=self.document)

    @property
    def breaks_at(self) -> Break | None:
        """None: the broker does not start, or no file holds the byte at the log's end."""
        end = self.told.outcome.log_end
        files = [file for file in self.store.commitlog if end is not None and file.base_offset is not None]
        for file in files:
            if end is not None and file.base_offset is not None and 0 <= end - file.base_offset < file.size:
                return Break(file.path, end - file.base_offset, end)
        return None

    def bytes_at_break(self, root: Path) -> PrintedTable:
        """Hex beside field names from there on, in the store at `root`; no rows where there is no such place."""
        place = self.breaks_at
        lines = [] if place is None else explain(root / name_below(self.store.root, place.file), place.file_pos, 1)
        caption = "" if place is None else f"{place.file.name} from byte {place.file_pos:,}"
        return PrintedTable(BYTES, [asdict(line) for line in lines], caption)

    def ways(self) -> PrintedTable:
        """The start as it is, then after each repair that helps: how it ends and what it loses."""
        plain = {"do": "start as it is", "why": None, "costs": None, **_ending(self.told.outcome)}
        repaired = (
            {"do": a.repair.do, "why": a.repair.evidence, "costs": a.repair.costs, **_ending(a.then)}
            for a in self.told.advice
        )
        return PrintedTable(WAYS, [plain, *repaired])

    def lost_by_queue(self) -> PrintedTable:
        """Losses counted by queue, with the first and the last of them."""
        return PrintedTable(LOST_BY_QUEUE, list(_by_queue(self.told)))

    def queues(self) -> PrintedTable:
        """Every queue's ends after load; after dispatch, where the broker gets that far."""
        document = self.document
        before = (document["before_dispatch"] or {}).get("queues", [])
        after = {(q["topic"], q["queue_id"]): q for q in (document["after_dispatch"] or {}).get("queues", [])}
        nothing = {"min_queue_offset": None, "max_queue_offset": None}
        rows: list[Row] = []
        for queue in before:
            then = after.get((queue["topic"], queue["queue_id"]), nothing)
            rows.append({**queue, **{f"{name}_after": end for name, end in then.items() if name in nothing}})
        return PrintedTable(QUEUES, rows)


def start_now(root: Path, said: Said = NOTHING_SAID, *, topic_events: Sequence[TopicEvent] = ()) -> StartNow:
    """Forecast a start on the store at `root`; where no version is said, of every one whose starts were recorded.

    `topic_events`: what a log of its broker says of topics. Raises NotAStore.
    """
    store = open_known(root, said)
    known = replace(knowledge_of(store, said), topic_events=tuple(topic_events))
    return StartNow(store, known.settings, forecast(store, known))


@dataclass(frozen=True, slots=True)
class Outlook:
    """When the files of a store go, and whose unread messages with them, seen from `now_ms`.

    `risks` None: no consumer offsets are kept there.
    """

    now_ms: int
    kept: Retention
    files: list[Row]
    risks: list[Row] | None

    @property
    def facts(self) -> Facts:
        """In the form the sections of the report take."""
        return Facts("store", self.now_ms, retention_risk=self.risks)


def outlook(root: Path, said: Said, problem: Problem, *, now_ms: int | None = None) -> Outlook:
    """Play the cleaners on the store at `root`; what cannot be read goes to `problem`.

    Args:
        said: of the broker; without a version, the one that the files suggest.
        now_ms: epoch milliseconds from which to look ahead; None: when the log was last written to.
    """
    store = open_known(root, said)
    known = knowledge_of(store, said)
    if now_ms is None:
        now_ms = max((file.mtime_ns // 1_000_000 for file in store.commitlog), default=0)
    kept = retention(store, known, now_ms)
    files = [with_instants(row) for row in kept.rows()]
    offsets = offsets_of_store(store, lambda damage: problem(damage.reason))
    if offsets is None:
        return Outlook(now_ms, kept, files, None)
    queues = store_positions(store, offsets, lambda damage: problem(damage.reason))
    return Outlook(now_ms, kept, files, [with_instants(asdict(risk)) for risk in retention_risks(kept, queues)])


def _ending(outcome: Outcome | None) -> Row:
    """The numbers that two starts are compared by; None for a repair beside the store, which changes no start, and of
    what nothing decides."""
    if outcome is None or outcome.starts is None:
        names = ("starts", "log_end_offset", "lost_messages", "lost_units", "lost_index", "dispatched")
        return dict.fromkeys(names)
    return {
        "starts": outcome.starts,
        "log_end_offset": outcome.log_end,
        "lost_messages": outcome.lost_messages,
        "lost_units": outcome.lost_units,
        "lost_index": outcome.lost_index,
        "dispatched": outcome.dispatched,
    }


def _by_queue(told: Forecast) -> Iterator[Row]:
    """Losses of one kind in one queue, the largest first."""
    counts = Counter((loss.what, loss.topic, loss.queue_id) for loss in told.lost)
    for (what, topic, queue_id), count in counts.most_common():
        places = [loss for loss in told.lost if (loss.what, loss.topic, loss.queue_id) == (what, topic, queue_id)]
        known = [loss.queue_offset for loss in places if loss.queue_offset is not None]
        first, last = (min(known), max(known)) if known else (None, None)
        yield {
            "what": what,
            "topic": topic,
            "queue_id": queue_id,
            "count": count,
            "first_queue_offset": first,
            "last_queue_offset": last,
        }
