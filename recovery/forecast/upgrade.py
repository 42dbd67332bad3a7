"""Another version of the broker on the same store: what changes in its start, its settings and its rules.

Two starts are played, one for each version, and compared; everything else follows from the declarations of
`recovery/rules`. A point that is not listed is not proven to be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from parsers.values.topics import DATABASE_HALF_TOPIC
from recovery.forecast.forecast import Forecast
from recovery.rules.settings import FILE_STORE, ROCKSDB_STORE, StoreSettings
from recovery.rules.version_rule import Rule
from recovery.rules.versions import BrokerVersion

LONGEST_V1_TOPIC = 127
NO_QUEUE = "no such queue"
FIGURES = (
    "the log's end",
    "messages dispatched again",
    "messages of lives that are over, brought back",
    "index files deleted",
    "rows of configuration that it lacks",
    "files of config/ that it takes away",
)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference; `before` and `after` say what the two versions do."""

    about: str
    what: str
    before: str
    after: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class _WayBack:
    """What the newer version may have written that the older one does not take."""

    rule: str
    what: str
    older: str
    newer: str
    counts: Callable[[StoreSettings], bool]


WAYS_BACK = (
    _WayBack(
        "reads_v2_messages",
        f"messages of topics whose names have more than {LONGEST_V1_TOPIC} bytes",
        "ends the log at the first one",
        "writes them with a two-byte topic length",
        lambda settings: settings.auto_message_version_on_topic_len,
    ),
    _WayBack(
        "has_timer_wheel",
        "timer messages that wait for their time",
        "never delivers them",
        "keeps them in rmq_sys_wheel_timer and the timer log",
        lambda settings: settings.timer_wheel_enable,
    ),
    _WayBack(
        "has_batch_queues",
        "queues of topics with queue.type=BatchCQ",
        "does not load them",
        "keeps them in batchconsumequeue/",
        lambda settings: True,
    ),
    _WayBack(
        "keeps_queues_in_rocksdb",
        "queues",
        "has those of the files alone, as they were before",
        "keeps them in the database",
        lambda settings: settings.uses_rocksdb_queues,
    ),
    _WayBack(
        "keeps_tables_in_rocksdb",
        "topics, groups and offsets",
        "has those of config/*.json, as they were before",
        "keeps them in databases below config/",
        lambda settings: settings.uses_rocksdb_queues,
    ),
    _WayBack(
        "keeps_tables_in_one_database",
        "topics, groups and offsets",
        "has those of config/*.json, as they were before",
        "keeps them in one database (configManagerVersion=v2)",
        lambda settings: settings.keeps_tables_in_one_database,
    ),
    _WayBack(
        "keeps_messages_in_database",
        f"half messages that wait in {DATABASE_HALF_TOPIC}",
        "never asks how they ended",
        "checks those that it keeps in rocksdbstore/",
        lambda settings: settings.trans_rocksdb_enable and not settings.trans_write_origin_trans_half_enable,
    ),
    _WayBack(
        "keeps_messages_in_database",
        "keys of messages",
        "finds those of the files in index/ alone",
        "keeps them in rocksdbstore/ and writes no index file",
        lambda settings: settings.index_rocksdb_enable and not settings.writes_index_files,
    ),
)
"""By the rules of `FileRules` and `StartRules`, each with its source there."""


def start_changes(before: Forecast, after: Forecast) -> Iterator[Change]:
    """How the two starts differ; whether each comes up, and what it loses, are always among the rows."""
    failed = after.played.load_error
    why = None if failed is None else f"{failed.rule} ({failed.evidence})"
    yield Change("start", "the start", _comes_up(before), _comes_up(after), why or after.played.start_error)
    yield Change("start", "lost by it", _lost(before), _lost(after))
    if not (before.played.is_open or after.played.is_open):
        then = _figures(after)
        for what, figure in _figures(before).items():
            if figure != then[what]:
                yield Change("start", what, _figure(figure), _figure(then[what]))
        yield from _queue_ends(before, after)
    known = {each.what for each in before.unknown}
    for each in after.unknown:
        if each.what not in known:
            yield Change("not_known", each.what, "–", "not known", each.why)


def _figures(told: Forecast) -> dict[str, int | None]:
    """The numbers of a start that are compared; None where it does not come to them, or they stay open."""
    end, played = told.outcome, told.played
    dispatched = None if played.started and not played.dispatches else end.dispatched
    deleted, lacks, destroyed = end.index_files_deleted, end.lost_config, end.destroyed_config
    return dict(zip(FIGURES, (end.log_end, dispatched, end.brought_back, deleted, lacks, destroyed), strict=True))


def _queue_ends(before: Forecast, after: Forecast) -> Iterator[Change]:
    """Queues that end elsewhere, or that one of the two starts alone has; nothing where a start's queues stay open."""
    if not (before.played.dispatches and after.played.dispatches):
        return
    one, other = (
        {(topic, queue_id): _figure(end) for topic, queue_id, end in told.outcome.queue_ends}
        for told in (before, after)
    )
    for topic, queue_id in sorted(one.keys() | other.keys()):
        key = topic, queue_id
        was, then = one.get(key, NO_QUEUE), other.get(key, NO_QUEUE)
        if was != then and {was, then} != {NO_QUEUE, "0"}:
            yield Change("start", f"the end of {topic}/{queue_id}", was, then)


def place_changes(settings: StoreSettings, before: BrokerVersion, after: BrokerVersion) -> Iterator[Change]:
    """Where each version keeps queues and tables, with these settings."""
    for what, place in (("queues", _queues_of), ("topics, groups and offsets", _tables_of)):
        was, then = place(settings, before), place(settings, after)
        if was != then:
            yield Change("place", what, was, then)


def setting_changes(said: Mapping[str, str], before: BrokerVersion, after: BrokerVersion) -> Iterator[Change]:
    """Settings that one version has and the other passes over; those that no answer here needs are counted."""
    strange = []
    for name, value in sorted(said.items()):
        was, then = StoreSettings.is_read(name, before), StoreSettings.is_read(name, after)
        if was is None:
            strange.append(name)
        elif was != then:
            yield Change("setting", f"{name}={value}", _is_read(was), _is_read(then))
    if strange:
        why = f"no answer here goes by {', '.join(strange)}"
        yield Change("not_known", "whether other settings are read", "–", "not known", why)


def ways_back(settings: StoreSettings, before: BrokerVersion, after: BrokerVersion) -> Iterator[Change]:
    """What the newer of the two may write that the older one does not take, should it have to start again."""
    older, newer = sorted((before, after))
    for each in WAYS_BACK:
        if getattr(newer, each.rule) and not getattr(older, each.rule) and each.counts(settings):
            told = (each.older, each.newer) if older == before else (each.newer, each.older)
            source = getattr(BrokerVersion, each.rule).what.rstrip(".").rpartition(". ")[2]
            yield Change("way_back", each.what, *told, source)


def rule_changes(before: BrokerVersion, after: BrokerVersion) -> Iterator[Change]:
    """Every rule that is declared of one version and not of the other."""
    for name in sorted(dir(BrokerVersion)):
        rule = getattr(BrokerVersion, name)
        if isinstance(rule, Rule) and rule.holds(before) != rule.holds(after):
            is_now = rule.holds(after)
            yield Change("rule", name.replace("_", " "), _yes(not is_now), _yes(is_now), rule.what)


def _comes_up(told: Forecast) -> str:
    if told.outcome.starts is None:
        return "not known"
    return "comes up" if told.outcome.starts else "does not come up"


def _lost(told: Forecast) -> str:
    """The losses of each kind that are not 0; a start that is not decided loses what nobody knows."""
    known = told.outcome.lost_as_known
    words = [f"{count} {what.replace('_', ' ')}{'' if count == 1 else 's'}" for what, count in known.items() if count]
    if words:
        return ", ".join(words) + ("" if told.outcome.losses_are_known else " at least")
    return "nothing" if told.outcome.losses_are_known else "not known"


def _queues_of(settings: StoreSettings, version: BrokerVersion) -> str:
    if settings.uses_rocksdb_queues and version.keeps_queues_in_rocksdb:
        return f"in {settings.queue_database_folder}/ (RocksDB)"
    if settings.rocksdb_cq_double_write_enable and version.combines_queue_stores:
        alone = {FILE_STORE: "in files", ROCKSDB_STORE: f"in {settings.queue_database_folder}/ (RocksDB)"}
        loaded = settings.loaded_queue_stores
        return alone[next(iter(loaded))] if len(loaded) == 1 else "in files and in RocksDB, together"
    if settings.rocksdb_cq_double_write_enable and version.keeps_queues_in_rocksdb:
        return "in files; RocksDB is written beside them"
    return "in files"


def _tables_of(settings: StoreSettings, version: BrokerVersion) -> str:
    if settings.keeps_tables_in_one_database and version.keeps_tables_in_one_database:
        return "in one database (RocksDB)"
    if settings.uses_rocksdb_queues and version.keeps_tables_in_rocksdb:
        return "in databases (RocksDB)"
    return "in config/*.json"


def _figure(value: int | None) -> str:
    return "not known" if value is None else str(value)


def _is_read(value: bool | None) -> str:
    return "read" if value else "not read: no such setting"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
