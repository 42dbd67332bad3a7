"""The facts of a report on one store: from its files through the engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.files.region import Region
from parsers.damage.errors import Damage, unheard
from parsers.store.places import name_below
from parsers.store.store import Store
from parsers.values.utc import utc
from pipelines.answers.backlog.rows import backlog
from pipelines.answers.backlog.standing import Standing, stands_since
from pipelines.answers.backlog.subscriptions import heard_subscriptions, subscriptions_of
from pipelines.answers.derived.group_rows import group_rows
from pipelines.answers.derived.ledger_rows import ledger_rows
from pipelines.answers.derived.queue_figures import queue_figures
from pipelines.answers.episodes.curve import curves_of
from pipelines.answers.episodes.episodes import episode_rows
from pipelines.answers.episodes.of_recordings import conditions_of_recordings
from pipelines.answers.episodes.of_store import kept_lag
from pipelines.answers.fates.delays import DelayAnswer, delay_sums
from pipelines.answers.fates.pops import PopAnswer, pop_sums
from pipelines.answers.fates.retries import RetryAnswer, retry_sums
from pipelines.answers.fates.transactions import TransactionAnswer, transaction_sums
from pipelines.answers.finding_rows import explained_row, finding_row
from pipelines.answers.journey.of_store import add_heard, store_trail
from pipelines.answers.journey.step import STEP_SCHEMA
from pipelines.answers.journey.steps import story
from pipelines.answers.lag.groups_left import groups_left
from pipelines.answers.lag.lag import lag_record, store_lag, store_positions
from pipelines.answers.lives.life_events import life_event_row, life_events
from pipelines.answers.offsets.event import OffsetEvent
from pipelines.answers.offsets.events import event_rows, events_of
from pipelines.answers.offsets.saved import OffsetsAt, offsets_of_store
from pipelines.answers.offsets.start_rows import group_start_rows
from pipelines.answers.recorded.heard import Heard, owners_at_end
from pipelines.answers.recorded.ownership_rows import rows_to_batches
from pipelines.answers.traces import trace_batches, trace_sums
from pipelines.recordings.store_log import rows_of
from pipelines.recordings.topic_log import topic_events
from pipelines.report.facts.model import Facts, Row
from rebalance.replay import Replay
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import forecast
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.topic_lives import StoreLives
from recovery.retention.retention import retention
from recovery.retention.risk import retention_risks
from recovery.verify.in_motion import verify_in_motion
from recovery.verify.ledger_in_motion import ledger_in_motion

Say = Callable[[str], None]
MOST_FINDINGS = 500


def facts_of_store(
    store: Store,
    known: StoreKnowledge,
    *,
    heard: Heard | None = None,
    copies: Sequence[OffsetsAt] = (),
    messages: Sequence[str] = (),
    say: Say = lambda step: None,
) -> Facts:
    """Everything the engines say about one store; what fails to be said is in `unread`.

    Args:
        heard: what logs and captures of the cluster tell, if there are any.
        copies: kept copies of the offsets, oldest first; `messages`: ids of those whose way is shown.
        say: called with what is looked at next.
    """
    heard = heard or Heard()
    known = replace(known, topic_events=tuple(topic_events(heard.lines)))
    facts = Facts(str(store.root), read_at_ms=int(time.time() * 1000))
    facts.version = str(known.version) if known.version_is_said else f"{known.version} (taken from the files)"
    facts.left_out += [f"{name_below(store.root, file.path)}: {file.why}" for file in store.not_understood]
    facts.files = [
        {"kind": file.kind, "file": name_below(store.root, file.path), "size": file.size} for file in store.files()
    ]
    collect = _Damages(facts.unread)
    read = _Read(store, known, heard, copies, collect)
    say("reading the CommitLog")
    _read_log(store, facts)
    facts.queues = list(queue_figures(store, known.version, collect))
    say("comparing the files")
    verified = verify_in_motion(store, known)
    facts.findings = [finding_row(finding) for finding in verified.findings]
    facts.explained = [explained_row(state) for state in verified.explained]
    say("playing a start")
    told = forecast(store, replace(known, version_is_said=True))
    facts.forecast = forecast_document(told)
    say("ledger, lag and retention")
    moved = events_of(store, known, heard.record, copies, damage=collect)
    _consumers(read, facts, moved)
    facts.offset_events = list(event_rows(moved))
    facts.starts = list(group_start_rows(store, known.version, collect))
    say("lives of topics and groups")
    _lives(read, facts)
    _fates(read, facts, say)
    if heard.history is not None:
        tell_ownership(facts, heard.history)
    if heard.store_log is not None:
        facts.store_log = [_store_line(row) for row in rows_of(heard.store_log.lines)]
    if copies:
        say("episodes of lag")
        facts.lag_episodes = _episodes(read, facts)
    for message_id in messages:
        say(f"the way of {message_id}")
        facts.journeys[message_id] = _journey(read, message_id, facts.read_at_ms)
    return facts


class _Damages:
    """Names the first MOST_FINDINGS unread ranges, and no others."""

    def __init__(self, unread: list[str]) -> None:
        self._unread = unread

    def __call__(self, found: Damage) -> None:
        if len(self._unread) < MOST_FINDINGS:
            self._unread.append(f"{found.path} from byte {found.file_pos}: {found.reason}")


@dataclass(frozen=True, slots=True)
class _Read:
    """What the facts come from: the store, what is known of it, what was recorded and kept; and where damage goes."""

    store: Store
    known: StoreKnowledge
    heard: Heard
    copies: Sequence[OffsetsAt]
    damage: _Damages


def _read_log(store: Store, facts: Facts) -> None:
    """Regions and totals by topic in one pass."""
    if not store.commitlog:
        return
    regions: list[Region] = []
    totals: dict[str, list[int]] = {}
    columns = ("topic", "total_size", "crc_ok", "record_crc_ok")
    for batch in read_commitlog(store, columns=columns, damage=unheard, regions=regions.append):
        table = pa.table({"topic": batch.column("topic"), "size": batch.column("total_size")})
        for row in table.group_by("topic").aggregate([("size", "count"), ("size", "sum")]).to_pylist():
            total = totals.setdefault(row["topic"], [0, 0])
            total[0] += row["size_count"]
            total[1] += row["size_sum"]
    facts.topics = [{"topic": topic, "messages": count, "bytes": size} for topic, (count, size) in totals.items()]
    facts.regions = [_region_row(region, store.root) for region in regions]


def _region_row(region: Region, root: Path) -> Row:
    return {
        "file": name_below(root, region.path),
        "file_pos": region.file_pos,
        "length": region.length,
        "kind": region.kind,
        "reason": region.reason,
    }


def _store_line(row: dict[str, Any]) -> Row:
    return {**row, "first_at": utc(row["first_at"]), "last_at": utc(row["last_at"])}


def _episodes(read: _Read, facts: Facts) -> list[Row]:
    conditions, why_none = conditions_of_recordings(read.heard, read.store)
    if why_none is not None:
        facts.unread.append(f"logs: {why_none}: no cause of lag is taken from them")
    curves = curves_of(kept_lag(read.store, read.copies, StoreLives(read.store, read.known), damage=read.damage))
    return list(episode_rows(curves, conditions))


def _journey(read: _Read, message_id: str, now_ms: int) -> list[Row] | None:
    trail = store_trail(read.store, read.known, message_id, read.copies or None, read.heard.record, read.damage, now_ms)
    if trail is None:
        return None
    add_heard(trail, read.heard, ["the recordings"])
    steps: list[Row] = pa.Table.from_batches(rows_to_batches(STEP_SCHEMA, story(trail)), STEP_SCHEMA).to_pylist()
    return steps


def _consumers(read: _Read, facts: Facts, moved: Sequence[OffsetEvent]) -> None:
    store, known, heard, collect = read.store, read.known, read.heard, read.damage
    offsets = offsets_of_store(store, collect)
    ledger = ledger_in_motion(store, known)
    facts.ledger = list(ledger_rows(store, ledger, offsets, moved))
    if offsets is None:
        return
    brokers = heard.brokers() or ()
    subscriptions = replace(
        subscriptions_of(store, known.version, collect),
        heard=heard_subscriptions(heard.subscriptions.of(brokers), known.version),
    )
    since = stands_since(offsets, read.copies, heard.record.commits_of(brokers))
    standing = Standing(owners_at_end(heard, brokers), since)
    facts.backlog = list(backlog(store, ledger, offsets.offsets, subscriptions, collect, standing=standing))
    facts.lag = [asdict(row) for row in store_lag(store, offsets, damage=collect, lives=StoreLives(store, known))]
    kept = retention(store, known, facts.read_at_ms)
    queues = store_positions(store, offsets, collect)
    facts.retention_risk = [with_instants(asdict(risk)) for risk in retention_risks(kept, queues)]


def _lives(read: _Read, facts: Facts) -> None:
    """What happened to topics and groups."""
    heard = read.heard
    events = life_events(read.store, read.known, heard.lines, damage=read.damage, problem=facts.unread.append)
    facts.life_events = [life_event_row(event) for event in events]
    left = groups_left(read.store, read.known, damage=read.damage)
    facts.groups = list(group_rows(left, heard.record if heard.has_its_log else None))


def _fates(read: _Read, facts: Facts, say: Say) -> None:
    """What became of messages that the broker held back, and what their clients traced of them."""
    store, known, collect = read.store, read.known, read.damage
    say("delayed messages")
    delayed = DelayAnswer.of(store, known, collect, facts.read_at_ms)
    facts.delays, facts.delay_notes = delay_sums(delayed.batches(), facts.read_at_ms).to_pylist(), list(delayed.notes())
    say("retries")
    offsets = offsets_of_store(store, collect)
    stored = None if offsets is None else offsets.offsets
    given_back = RetryAnswer.of(store, known, stored).with_pops(known, stored, collect)
    facts.retries = retry_sums(given_back.batches()).to_pylist()
    say("transactions")
    asked = TransactionAnswer.of(store, known, stored, collect)
    facts.transactions = transaction_sums(asked.batches()).to_pylist()
    say("popped messages")
    popped = PopAnswer.of(store, known, stored, collect)
    lags = [] if offsets is None else store_lag(store, offsets, damage=collect)
    facts.pops = pop_sums(popped.batches(), map(lag_record, lags), facts.read_at_ms).to_pylist()
    say("traces")
    facts.traces = trace_sums(trace_batches(store, collect), store.root).to_pylist()


INSTANTS = {
    "due_at_ms": "due_at",
    "begin_earliest": "begin_earliest",
    "begin_latest": "begin_latest",
    "end_earliest": "end_earliest",
    "end_latest": "end_latest",
    "from_ms": "begin_at",
    "to_ms": "end_at",
}


def tell_ownership(facts: Facts, history: Replay) -> None:
    """Who owned which queue, what was out of order, and why not all of it is certain."""
    facts.intervals = [with_instants(asdict(row)) for row in history.intervals]
    facts.anomalies = [with_instants({**asdict(row), "clients": list(row.clients)}) for row in history.anomalies]
    facts.ownership_notes = [asdict(row) for row in history.group_notes]


def with_instants(row: dict[str, Any]) -> Row:
    """The row with epoch milliseconds as times in UTC, under the names that the tables give them."""
    return {INSTANTS.get(name, name): utc(value) if name in INSTANTS else value for name, value in row.items()}
