"""BrokerController#initialize as far as configuration decides it: who stops it, what is missing then, what it destroys.

Source: BrokerController#initialize, #shutdown, ConfigManager#persist, recorded starts of 4.9.7, 5.0.0, 5.3.3, 5.4.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from parsers.config.groups import filters_of
from parsers.layouts.fastjson import as_map, whole_number
from parsers.timer.check import TIMER_CHECK
from recovery.broker.store_folder import Evidence, QueueKey
from recovery.config.databases import load_table, table_database
from recovery.config.files import FILTERS, Rows, Stage, loaded_files, written_by_refused_start
from recovery.config.load import ConfigCopy, ConfigLoad, Copies, CopyState, load_config
from recovery.config.losses import ConfigLosses, a_broker_ran, config_losses
from recovery.config.names import is_system_topic
from recovery.rebuild.filter_bits import FilterBits, Shape, bits_of, filter_shape
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

DEFAULT_QUEUES = 16
"""writeQueueNums of a topic's row without it. TopicConfig @5.3.1."""


TIMERCHECK = "timercheck"


class StoreFailure(StrEnum):
    """What stops BrokerController#initialize beside config/, in the order in which it is loaded."""

    CHECK = "something in the place of config/timercheck that is no file, before the store's load()"
    WHEEL = "the timer wheel, before the store's load()"
    LOAD = "the store's load(), for whatever reason but its delayOffset.json"
    TIMER_LOG = "the timer log, after the store's load()"
    LIGHT = "the service of light topics, after all of config/"


@dataclass(frozen=True, slots=True)
class Destroyed:
    """A file whose content a start takes away before anybody could look at it.

    Attributes:
        file: below the store root.
        how: `emptied`, but for what a broker makes by itself, or `deleted`.
        held: what it held, or what the .bak did that the next start then passes over.
        moves_to_backup: the file's former content stands in the .bak afterwards, whose own content is gone.
    """

    file: str
    how: Literal["emptied", "deleted"]
    held: str
    moves_to_backup: bool


@dataclass(frozen=True, slots=True)
class ConfigStart:
    """What a start makes of config/.

    Attributes:
        loads: all of them, in order, those after the one that refuses too.
        refused: the first whose false result stops the broker.
        has_files: config/ tells that a broker ran here; without it the store's classes are looked at by themselves, and
            nothing counts as missing.
        calculates_bit_maps: enableCalcFilterBitMap is set.
        filter_shape: bits of a bit map, and those that one filter sets; None where no setting says them.
        store_fails: what else stops the broker.
        delivered_to_ms: the time in config/timercheck up to which timers are delivered; None without one, and where
            timerWheelEnable is not set.
        has_timers: the broker has a timer store.
    """

    version: BrokerVersion
    loads: tuple[ConfigLoad, ...]
    refused: ConfigLoad | None
    losses: ConfigLosses
    has_files: bool
    calculates_bit_maps: bool = False
    filter_shape: Shape | None = None
    store_fails: StoreFailure | None = None
    delivered_to_ms: int | None = None
    has_timers: bool = False

    @property
    def stopped_at(self) -> Stage | None:
        """None when BrokerController#initialize is true, or fails for a reason that is not looked at here."""
        if self.refused is not None and (self.stops_before_store or self.store_fails is None):
            return self.refused.stage
        if self.store_fails is StoreFailure.TIMER_LOG:
            return Stage.TIMER
        if self.store_fails is StoreFailure.LIGHT:
            return Stage.SCHEDULE
        return None if self.store_fails is None else Stage.STORE

    @property
    def taken(self) -> tuple[ConfigLoad, ...]:
        """The loads that the broker comes to."""
        stopped_at = self.stopped_at
        if self.store_fails is StoreFailure.LIGHT and self.refused is None:
            return self.loads
        if self.store_fails is not None and not self.stops_before_store:
            return tuple(load for load in self.loads if load.stage in (Stage.MADE, Stage.METADATA))
        if self.refused is None or stopped_at is None:
            return self.loads
        return self.loads[: self.loads.index(self.refused) + 1]

    @property
    def stops_before_store(self) -> bool:
        """The store is never opened: log, queues and index stay as they are."""
        return self.refused is not None and self.refused.stage is Stage.METADATA

    def knows_queue(self, key: QueueKey) -> bool | None:
        """Whether the table of topics has this queue for writing; None where that is unknown.

        The queues are those up to writeQueueNums. RocksDBConsumeQueueOffsetTable#truncateDirty @5.3.1.
        """
        topic, queue_id = key
        rows = next(load.rows for load in self.loads if load.file.rows is Rows.TOPICS)
        if topic not in rows:
            return None if not self.has_files or is_system_topic(topic) else False
        count = whole_number(as_map(rows[topic]).get("writeQueueNums", DEFAULT_QUEUES))
        return None if count is None else queue_id < count

    @property
    def filters(self) -> FilterBits:
        """By which dispatch calculates the bit maps of ext units (enableCalcFilterBitMap).

        Source: ConsumerFilterManager#decode, CommitLogDispatcherCalcBitMap#dispatch @5.3.3.
        """
        if not self.calculates_bit_maps:
            return FilterBits()
        load = next(load for load in self.loads if load.file is FILTERS)
        if not self.has_files and load.used is None:
            return FilterBits(undecided="config/consumerFilter.json has the filters, and config/ was not copied")
        return bits_of(filters_of(load.rows), self.version, self.filter_shape)

    @property
    def destroys(self) -> tuple[Destroyed, ...]:
        """What a start empties because it was refused, and what 5.4.0 and later delete because it cannot be read."""
        emptied = tuple(map(self._emptied, filter(self._empties, self.loads)))
        gone = {each.file for each in emptied}
        deleted = (each for each in self._deleted() if each.file not in gone)
        return (*emptied, *deleted, *self._timercheck())

    def _timercheck(self) -> Iterator[Destroyed]:
        """A timer store that is shut down before it has read timercheck writes it with zeros.
        TimerMessageStore#shutdown, #prepareTimerCheckPoint @5.0.0, 5.4.0."""
        loads_no_timers = self.store_fails is StoreFailure.LOAD and not self.stops_before_store
        if loads_no_timers and self.delivered_to_ms and not self._writes_nothing:
            held = f"timers are delivered up to {self.delivered_to_ms} ms; from 0 on they are delivered again"
            yield Destroyed(f"config/{TIMERCHECK}", "emptied", held, moves_to_backup=False)

    @property
    def _writes_nothing(self) -> bool:
        """Shutdown is not reached, or ends before anything is written."""
        if self.store_fails is StoreFailure.WHEEL:
            return self.version.throws_on_wheel
        return self.store_fails is StoreFailure.LOAD and self.has_timers and self.version.needs_timers_to_shut_down

    def _deleted(self) -> Iterator[Destroyed]:
        if self.version.deletes_unreadable_config:
            for load in self.taken:
                if load.main.state is CopyState.UNREADABLE and not load.file.is_database:
                    yield Destroyed(_path(load), "deleted", _held(load.main), False)

    def _empties(self, load: ConfigLoad) -> bool:
        """The file is written on the way out although its content is not in memory."""
        stopped_at = self.stopped_at
        if stopped_at is None or load.file not in written_by_refused_start(self.version, stopped_at):
            return False
        if self._writes_nothing and not self.stops_before_store:
            return False
        is_in_memory = load is not self.refused and load in self.taken
        holds = any(copy.rows or copy.state is CopyState.UNREADABLE for copy in (load.main, load.backup))
        return holds and not is_in_memory

    def _emptied(self, load: ConfigLoad) -> Destroyed:
        deleted_before = load is self.refused and self.version.deletes_unreadable_config
        is_there = load.main.state is not CopyState.MISSING and not deleted_before
        held = load.main if load.main.state not in (CopyState.MISSING, CopyState.EMPTY) else load.backup
        return Destroyed(_path(load), "emptied", _held(held), is_there)


def config_start_of(evidence: Evidence, version: BrokerVersion, settings: StoreSettings) -> ConfigStart:
    """What a broker makes of this store's config/."""
    queues = {key for key, files in evidence.queues.items() if files}
    if evidence.database is not None:
        queues |= {key for key, noted in evidence.database.limits.items() if noted.last is not None}
    return config_start(evidence.config, queues, version, settings, was_killed=evidence.abort)


def config_start(
    copies: Copies | None,
    queues: Collection[QueueKey],
    version: BrokerVersion,
    settings: StoreSettings,
    *,
    was_killed: bool = False,
) -> ConfigStart:
    """Play every load().

    Args:
        queues: those that have units; they tell which topics and delay levels there were.
    """
    loads = tuple(_loads(copies or {}, version, settings))
    has_timers = version.has_timer_wheel and settings.timer_wheel_enable
    check = timer_check(copies or {}) if has_timers else None
    has_files = a_broker_ran(copies)
    refused = next((load for load in loads if load.refuses and (has_files or load.stage is Stage.STORE)), None)
    losses = config_losses(loads, queues, was_killed=was_killed) if has_files else ConfigLosses()
    return ConfigStart(
        version,
        loads,
        refused,
        losses,
        has_files,
        calculates_bit_maps=settings.enable_calc_filter_bit_map,
        filter_shape=filter_shape(settings),
        delivered_to_ms=check["last_read_time_ms"] if check is not None else None,
        has_timers=has_timers,
    )


def timer_check(copies: Copies) -> dict[str, int] | None:
    """The fields of config/timercheck; None where there is no such file, or none that can be read.

    The file is mapped, so that zeros follow one that is short. TimerCheckpoint#<init> @5.0.0, 5.5.0.
    """
    entry = copies.get(TIMERCHECK)
    if entry is None or entry.is_folder:
        return None
    stored = bytes(entry.bytes()[: TIMER_CHECK.size])
    return TIMER_CHECK.unpack(stored.ljust(TIMER_CHECK.size, b"\0")) if stored or not entry.size else None


def _loads(copies: Copies, version: BrokerVersion, settings: StoreSettings) -> Iterator[ConfigLoad]:
    """Every load() of a start, in its order, as if none of them stopped it."""
    for file, stage in loaded_files(version, settings):
        database = table_database(file, version, settings)
        if database is None:
            yield load_config(copies, file, stage, version)
        else:
            yield load_table(copies, file, stage, version, database)


def _path(load: ConfigLoad) -> str:
    return f"config/{load.file.name}"


def _held(copy: ConfigCopy) -> str:
    if copy.state is CopyState.UNREADABLE:
        return f"{copy.name}: bytes that cannot be decoded, {len(copy.beginning)} rows before them"
    return f"{copy.name}: {len(copy.rows)} rows"
