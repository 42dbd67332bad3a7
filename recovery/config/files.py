"""The files of config/ that a broker loads at its start, in its order, and which of them can stop it.

Each is read by a ConfigManager: `load()` decodes the file, and its .bak where the file is missing, empty or cannot be
decoded. It is false only when the .bak cannot be decoded either; a .bak that is missing or empty counts as success.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

BROKER_4, BROKER_5 = BrokerVersion(0, 0, 0), BrokerVersion(5, 0, 0)
WITH_LMQ, WITH_TRANSACTION_METRICS = BrokerVersion(4, 9, 3), BrokerVersion(5, 2, 0)


class Stage(StrEnum):
    """When load() is called, and so what a false result stops."""

    MADE = "when the broker is made, its result is not looked at"
    METADATA = "before the store is created"
    STORE = "at the end of the store's own load()"
    TIMER = "after the store's load(), with timerWheelEnable"
    SCHEDULE = "after the store's load()"
    IGNORED = "when a service of the store is made, its result is not looked at"


class Rows(StrEnum):
    """What the rows of a file are."""

    TOPICS = "topics"
    GROUPS = "groups"
    OFFSETS = "offsets"
    DELAY_LEVELS = "delay_levels"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file, as `BrokerPathConfigHelper` names it below config/.

    Attributes:
        manager: the Java class that loads it.
        table: the map of the document that holds its rows.
        needs_table: a document without that map makes decode() fail (putAll of null).
        since: the first version that loads it.
        is_database: it is a RocksDB database, whose name is that of its folder.
    """

    name: str
    manager: str
    table: str
    rows: Rows
    needs_table: bool = False
    since: BrokerVersion = BROKER_4
    is_database: bool = False


TOPICS = ConfigFile("topics.json", "TopicConfigManager", "topicConfigTable", Rows.TOPICS)
MAPPING = ConfigFile(
    "topicQueueMapping.json", "TopicQueueMappingManager", "topicQueueMappingInfoMap", Rows.OTHER, True, BROKER_5
)
OFFSETS = ConfigFile("consumerOffset.json", "ConsumerOffsetManager", "offsetTable", Rows.OFFSETS)
LMQ_OFFSETS = ConfigFile(
    "lmqConsumerOffset.json", "LmqConsumerOffsetManager", "offsetTable", Rows.OFFSETS, since=WITH_LMQ
)
GROUPS = ConfigFile("subscriptionGroup.json", "SubscriptionGroupManager", "subscriptionGroupTable", Rows.GROUPS)
FILTERS = ConfigFile("consumerFilter.json", "ConsumerFilterManager", "filterDataByTopic", Rows.OTHER)
ORDER_INFO = ConfigFile("consumerOrderInfo.json", "ConsumerOrderInfoManager", "table", Rows.OTHER, since=BROKER_5)
DELAYS = ConfigFile("delayOffset.json", "ScheduleMessageService", "offsetTable", Rows.DELAY_LEVELS)
TIMER_METRICS = ConfigFile("timermetrics", "TimerMetrics", "timingCount", Rows.OTHER, since=BROKER_5)
TRANSACTION_METRICS = ConfigFile(
    "transactionMetrics", "TransactionMetrics", "transactionCount", Rows.OTHER, since=WITH_TRANSACTION_METRICS
)
REQUEST_MODES = ConfigFile(
    "messageRequestMode.json", "MessageRequestModeManager", "messageRequestModeMap", Rows.OTHER, since=BROKER_5
)

LOAD_ORDER = (
    (REQUEST_MODES, Stage.MADE),
    (TOPICS, Stage.METADATA),
    (MAPPING, Stage.METADATA),
    (OFFSETS, Stage.METADATA),
    (LMQ_OFFSETS, Stage.METADATA),
    (GROUPS, Stage.METADATA),
    (FILTERS, Stage.METADATA),
    (ORDER_INFO, Stage.METADATA),
    (TIMER_METRICS, Stage.TIMER),
    (DELAYS, Stage.SCHEDULE),
    (TRANSACTION_METRICS, Stage.IGNORED),
)
"""BrokerController#<init>, #initialize, #initializeMetadata, #recoverAndInitService @4.9.8, 5.0.0, 5.3.3, 5.5.0."""


def loaded_files(version: BrokerVersion, settings: StoreSettings) -> list[tuple[ConfigFile, Stage]]:
    """The files that `version` loads under these settings, in its order."""
    skipped = OFFSETS if settings.enable_lmq and version >= WITH_LMQ else LMQ_OFFSETS
    return [
        (file, _stage(stage, version))
        for file, stage in LOAD_ORDER
        if version >= file.since and file is not skipped and (file is not TIMER_METRICS or settings.timer_wheel_enable)
    ]


def _stage(stage: Stage, version: BrokerVersion) -> Stage:
    return Stage.STORE if stage is Stage.SCHEDULE and version.loads_delay_offsets else stage


class _Writes(NamedTuple):
    """What shutdown() writes after a start that was refused before the store was created, and after its load()."""

    since: BrokerVersion
    without_store: tuple[ConfigFile, ...]
    with_store: tuple[ConfigFile, ...]


ALL_AT_SHUTDOWN = (OFFSETS, LMQ_OFFSETS, FILTERS, ORDER_INFO, DELAYS, TOPICS, GROUPS)
REFUSED_START_WRITES = (
    _Writes(BROKER_4, (OFFSETS, LMQ_OFFSETS, FILTERS), (OFFSETS, LMQ_OFFSETS, FILTERS)),
    _Writes(BROKER_5, (OFFSETS, LMQ_OFFSETS, FILTERS, ORDER_INFO), ALL_AT_SHUTDOWN),
    _Writes(BrokerVersion(5, 1, 4), (FILTERS, ORDER_INFO), ALL_AT_SHUTDOWN),
    _Writes(BrokerVersion(5, 3, 3), (FILTERS,), ALL_AT_SHUTDOWN),
    _Writes(BrokerVersion(5, 4, 0), (FILTERS, TOPICS, GROUPS, OFFSETS, LMQ_OFFSETS, ORDER_INFO), ALL_AT_SHUTDOWN),
)
"""BrokerController#shutdown (4.x), #shutdownBasicService (5.x): until 5.3.3 it ends with a NullPointerException where
ScheduleMessageService#persist asks for the store that was not created."""


def written_by_refused_start(version: BrokerVersion, stage: Stage) -> tuple[ConfigFile, ...]:
    """The files that a start which is refused at this stage writes on its way out, with what is in memory then."""
    writes = [each for each in REFUSED_START_WRITES if each.since <= version][-1]
    return writes.without_store if stage is Stage.METADATA else writes.with_store
