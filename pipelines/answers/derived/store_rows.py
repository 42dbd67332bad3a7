"""What `recovery` concludes about one broker's store, as rows of the derived tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from parsers.damage.errors import Damage, unheard
from parsers.store.store import Store
from parsers.tiered.metadata import read_tiered_metadata
from parsers.values.utc import utc
from pipelines.answers.backlog.rows import backlog
from pipelines.answers.backlog.standing import Standing, stands_since
from pipelines.answers.backlog.subscriptions import heard_subscriptions, subscriptions_of
from pipelines.answers.derived.group_rows import group_rows
from pipelines.answers.derived.ledger_rows import ledger_rows
from pipelines.answers.fates.delays import DelayAnswer
from pipelines.answers.fates.pops import PopAnswer
from pipelines.answers.fates.retries import RetryAnswer
from pipelines.answers.fates.transactions import TransactionAnswer
from pipelines.answers.finding_rows import finding_row
from pipelines.answers.instants import hour_of
from pipelines.answers.lag.groups_left import groups_left
from pipelines.answers.lag.lag import lag_record, store_lag, store_positions
from pipelines.answers.lives.life_events import life_event_row, life_events
from pipelines.answers.lives.life_rows import life_rows
from pipelines.answers.losses import all_lost, loses, messages_lost, starts
from pipelines.answers.offsets.event import OffsetEvent
from pipelines.answers.offsets.events import event_rows, events_of
from pipelines.answers.offsets.record import OffsetRecord
from pipelines.answers.offsets.saved import offsets_of_store
from pipelines.answers.offsets.start_rows import group_start_rows
from pipelines.answers.recorded.logged import lines_logged, lives_logged, offsets_logged
from pipelines.answers.traces import trace_batches
from pipelines.lake.configuration.broker_stores import known_store_of
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.recordings.topic_log import topic_events
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import Forecast, forecast
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.topic_lives import StoreLives
from recovery.retention.retention import retention
from recovery.retention.risk import retention_risks
from recovery.rules.store_paths import tiered_folder
from recovery.tiered.queues import tiered_queues
from recovery.verify.first_pass import files_of, first_pass, whole_outline
from recovery.verify.in_motion import UNSETTLED, Moment, SlicedPass, confirmed, verify_in_motion
from recovery.verify.ledger_in_motion import doubted_since, ledger_in_motion
from recovery.verify.store_ledger import ledger_of
from recovery.verify.verify import judged

Row = dict[str, Any]


def _known_store_of(broker: BrokerSource) -> tuple[Store, StoreKnowledge]:
    """The broker's store, and what is known of it by its configuration, its files, and what its logs say of topics.

    Parts of the logs that cannot be read are reported by the replay of them, not here.
    """
    store, known = known_store_of(broker)
    return store, replace(known, topic_events=tuple(topic_events(lives_logged(broker))))


def finding_rows(broker: BrokerSource, told: SlicedPass | None = None) -> list[Row]:
    """Rows of `consistency_findings`; none for a store whose files agree.

    Findings that only the last look at a store in use shows are left to the next ingest, which makes them again if they
    stand.

    `told`: what the first pass found in the parts of the log, where it was read apart.
    """
    store, known = _known_store_of(broker)
    if told is None:
        found = verify_in_motion(store, known, broker.until)
    else:
        files = files_of(store, known)
        seen = whole_outline(store, known, files, told.outlines)
        found = confirmed(judged(store, known, files, seen), store, known, told.since, broker.until)
    sure = (finding for finding in found.findings if UNSETTLED not in finding.evidence)
    return [finding_row(finding, broker=broker.name, watermark=broker.until) for finding in sure]


def loss_ledger_rows(broker: BrokerSource, told: SlicedPass | None = None) -> list[Row]:
    """Rows of `loss_ledger`: of the store's queues, and of the groups whose offsets are stored.

    `told`: what the first pass found in the parts of the log, where it was read apart.
    """
    (store, known), lost = _known_store_of(broker), list[Damage]()
    since, files = Moment.of(store) if told is None else told.since, files_of(store, known)
    seen = first_pass(store, known, files) if told is None else whole_outline(store, known, files, told.outlines)
    offsets = offsets_of_store(store, lost.append)
    found = doubted_since(ledger_of(store, known, files, seen), store, since)
    return list(ledger_rows(store, found, offsets, _moved(broker, store, known), broker=broker.name))


def backlog_rows(broker: BrokerSource) -> list[Row]:
    """Rows of `backlog`, by the subscriptions that the broker keeps and logs; none where no offsets are stored. The
    tables of ownership say who has the queues."""
    (store, known), lost = _known_store_of(broker), list[Damage]()
    offsets = offsets_of_store(store, lost.append)
    if offsets is None:
        return []
    logged = lines_logged(broker)
    heard = heard_subscriptions(logged.subscriptions.of([broker.name]), known.version)
    subscriptions = replace(subscriptions_of(store, known.version, lost.append), heard=heard)
    standing = Standing(since_ms=stands_since(offsets, (), logged.record.commits_of([broker.name])))
    ledger, named = ledger_in_motion(store, known), broker.name
    return list(backlog(store, ledger, offsets.offsets, subscriptions, lost.append, standing=standing, broker=named))


def offset_event_rows(broker: BrokerSource) -> list[Row]:
    """Rows of `offset_events`, from the store and the logs of one broker."""
    return list(event_rows(_moved(broker, *_known_store_of(broker)), broker=broker.name))


def _moved(broker: BrokerSource, store: Store, known: StoreKnowledge) -> list[OffsetEvent]:
    """What moved offsets of groups, by the store and the logs of one broker."""
    lost, record = list[Damage](), offsets_logged(broker) or OffsetRecord()
    return events_of(store, known, record, damage=lost.append)


def forecast_rows(broker: BrokerSource) -> list[Row]:
    """Rows of `recovery_forecast`: one for each answer, which is one unless the version is unknown and matters."""
    told = forecast(*_known_store_of(broker))
    return [_forecast_row(broker, each) for each in (told, *told.otherwise)]


def _forecast_row(broker: BrokerSource, told: Forecast) -> Row:
    document: Mapping[str, Any] = forecast_document(told)
    log = document["commitlog"]
    return {
        "broker": broker.name,
        "version": document["version"],
        "exit": document["exit"],
        "load_ok": document["load"]["ok"],
        "starts": starts(document),
        "min_physical_offset": log["min_physical_offset"],
        "max_physical_offset": log["max_physical_offset"],
        "files_deleted": len(log["files_deleted"]),
        "dispatch_from": document["dispatch_from"],
        "redispatched_messages": document["redispatched_messages"],
        "lost_messages": messages_lost(document),
        "lost": None if loses(document) is None else all_lost(document),
        "unknown": len(document["unknown"]),
        "document": json.dumps(document, ensure_ascii=False),
    }


def lag_rows(broker: BrokerSource) -> list[Row]:
    """Rows of `lag`, as the command of that name has them; none where no offsets are stored."""
    (store, known), lost = _known_store_of(broker), list[Damage]()
    offsets = offsets_of_store(store, lost.append)
    if offsets is None:
        return []
    found = store_lag(store, offsets, damage=lost.append, lives=StoreLives(store, known))
    return [lag_record(row, broker=broker.name) for row in found]


def topic_life_rows(broker: BrokerSource) -> list[Row]:
    """Rows of `topic_lives`: the lives of every topic that the log has messages of."""
    store, known = _known_store_of(broker)
    return list(life_rows(StoreLives(store, known)(), broker=broker.name))


def life_event_rows(broker: BrokerSource) -> list[Row]:
    """Rows of `life_events`, from the store and the logs of one broker."""
    (store, known), lost, sentences = known_store_of(broker), list[Damage](), list[str]()
    found = life_events(store, known, lives_logged(broker), damage=lost.append, problem=sentences.append)
    return [life_event_row(event, broker=broker.name) for event in found]


def group_life_rows(broker: BrokerSource) -> list[Row]:
    """Rows of `group_lives`, from the store and the logs of one broker."""
    (store, known), lost = _known_store_of(broker), list[Damage]()
    left = groups_left(store, known, damage=lost.append)
    return list(group_rows(left, offsets_logged(broker), broker=broker.name))


def group_start_rows_of(broker: BrokerSource) -> list[Row]:
    """Rows of `group_starts`: where a group that has no offset begins."""
    (store, known), lost = known_store_of(broker), list[Damage]()
    return list(group_start_rows(store, known.version, lost.append, broker=broker.name))


def _this_hour_ms() -> int:
    """Epoch milliseconds of the hour as of which a lake's cleaners are played."""
    return int(hour_of(datetime.now(UTC)).timestamp()) * 1000


def retention_rows(broker: BrokerSource) -> list[Row]:
    """Rows of `retention_risk` as of this hour; none where no offsets are stored."""
    (store, known), lost = known_store_of(broker), list[Damage]()
    offsets = offsets_of_store(store, lost.append)
    if offsets is None:
        return []
    kept = retention(store, known, _this_hour_ms())
    queues = store_positions(store, offsets, lost.append)
    rows = [asdict(risk) for risk in retention_risks(kept, queues)]
    return [{"broker": broker.name, "due_at": utc(row.pop("due_at_ms")), **row} for row in rows]


def tiered_rows(broker: BrokerSource) -> list[Row]:
    """Rows of `tiered_queues`; none where no metadata of a tiered store can be read."""
    (store, known), lost = known_store_of(broker), list[Damage]()
    metadata = read_tiered_metadata(store.config, damage=lost.append)
    if metadata is None:
        return []
    found = tiered_queues(store, metadata, tiered_folder(store.root, known.settings), lost.append)
    return [{"broker": broker.name, **asdict(state)} for state in found]


def delay_batches(broker: BrokerSource) -> Iterator[pa.RecordBatch]:
    """Rows of `delayed_messages`; files of pending ones are looked at as of this hour."""
    lost = list[Damage]()
    answer = DelayAnswer.of(*known_store_of(broker), lost.append, _this_hour_ms())
    yield from answer.batches(broker=broker.name)


def retry_batches(broker: BrokerSource) -> Iterator[pa.RecordBatch]:
    """Rows of `retry_chains`, by the offsets that the store has."""
    (store, known), lost = known_store_of(broker), list[Damage]()
    offsets = offsets_of_store(store, lost.append)
    stored = None if offsets is None else offsets.offsets
    yield from RetryAnswer.of(store, known, stored).with_pops(known, stored, lost.append).batches(broker=broker.name)


def transaction_batches(broker: BrokerSource) -> Iterator[pa.RecordBatch]:
    """Rows of `transactions`, by how far the broker's own group has checked."""
    (store, known), lost = known_store_of(broker), list[Damage]()
    offsets = offsets_of_store(store, lost.append)
    answer = TransactionAnswer.of(store, known, None if offsets is None else offsets.offsets, lost.append)
    yield from answer.batches(broker=broker.name)


def pop_batches(broker: BrokerSource) -> Iterator[pa.RecordBatch]:
    """Rows of `popped_messages`, by how far the broker's revive service has come."""
    (store, known), lost = known_store_of(broker), list[Damage]()
    offsets = offsets_of_store(store, lost.append)
    answer = PopAnswer.of(store, known, None if offsets is None else offsets.offsets, lost.append)
    yield from answer.batches(broker=broker.name)


def trace_event_batches(broker: BrokerSource) -> Iterator[pa.RecordBatch]:
    """Rows of `trace_events`, from the topics that hold traces."""
    store, _ = known_store_of(broker)
    yield from trace_batches(store, unheard, broker=broker.name)


SLICED: Mapping[str, Callable[[BrokerSource, SlicedPass | None], list[Row]]] = {
    "consistency_findings": finding_rows,
    "loss_ledger": loss_ledger_rows,
}
"""Tables whose rows come from a pass over the log that may be made in slices."""
JUDGES: Mapping[str, Callable[[BrokerSource], list[Row]]] = {
    "consistency_findings": finding_rows,
    "recovery_forecast": forecast_rows,
    "lag": lag_rows,
    "retention_risk": retention_rows,
    "loss_ledger": loss_ledger_rows,
    "offset_events": offset_event_rows,
    "backlog": backlog_rows,
    "group_starts": group_start_rows_of,
    "topic_lives": topic_life_rows,
    "life_events": life_event_rows,
    "group_lives": group_life_rows,
    "tiered_queues": tiered_rows,
}
"""Table -> what makes its rows for one broker."""
STREAMS: Mapping[str, Callable[[BrokerSource], Iterator[pa.RecordBatch]]] = {
    "delayed_messages": delay_batches,
    "retry_chains": retry_batches,
    "transactions": transaction_batches,
    "popped_messages": pop_batches,
    "trace_events": trace_event_batches,
}
"""Table -> what makes its rows for one broker as batches, for tables with a row for each message."""
