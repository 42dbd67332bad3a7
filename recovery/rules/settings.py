"""Store settings under RocketMQ's own names, with the broker's defaults: the one table a forecast or rebuild asks.

Source: MessageStoreConfig (and brokerId, enableControllerMode, configManagerVersion of BrokerConfig), compared @4.9.8,
5.3.1, 5.3.3, 5.4.0, 5.5.0, 5.5.1: a setting appears in some version, its default has not changed since, but that of
compactionThreadNum, which is 0 in 5.1.0 (`BrokerVersion.bounds_compaction_threads`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parsers.evidence.mapped import read_small
from parsers.store.places import QUEUE_DATABASES
from recovery.rules.versions import BrokerVersion

DELAY_LEVELS = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
CONSUME_QUEUE_UNIT_SIZE = 20
FILE_STORE, ROCKSDB_STORE = "default", "defaultrocksdb"
MOST_CONF_BYTES = 1 << 22
FORMER_NAMES = {
    "mapedFileSizeCommitLog": "mappedFileSizeCommitLog",
    "mapedFileSizeConsumeQueue": "mappedFileSizeConsumeQueue",
}
"""What MessageStoreConfig called settings up to 4.5.1 -> their names since RENAMED_IN."""
RENAMED_IN = BrokerVersion(4, 5, 2)


class WrongSetting(ValueError):
    """A value that the setting `name` cannot have."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name}{why}")
        self.name = name


def _setting(
    java_name: str,
    default: bool | int | str,
    since: tuple[int, int, int] = (0, 0, 0),
    *,
    gone_in: tuple[int, int, int] | None = None,
    least: int | None = None,
) -> Any:
    versions = {"since": BrokerVersion(*since), "gone_in": None if gone_in is None else BrokerVersion(*gone_in)}
    return field(default=default, metadata={"java_name": java_name, "default": default, "least": least, **versions})


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Effective values. Sizes in bytes, `file_reserved_time` in hours, ratios in percent, intervals in milliseconds.

    Entry numbers of an index start at 1 and stay below maxIndexNum: with less than 2 no file ever takes a key.

    Raises:
        WrongSetting: a size with which no broker could write a file.
    """

    mapped_file_size_commit_log: int = _setting("mappedFileSizeCommitLog", 1 << 30, least=1)
    mapped_file_size_consume_queue: int = _setting(
        "mappedFileSizeConsumeQueue", 300_000 * CONSUME_QUEUE_UNIT_SIZE, least=1
    )
    mapped_file_size_batch_consume_queue: int = _setting(
        "mapperFileSizeBatchConsumeQueue", 300_000 * 46, (5, 0, 0), least=1
    )
    enable_consume_queue_ext: bool = _setting("enableConsumeQueueExt", False)
    mapped_file_size_consume_queue_ext: int = _setting("mappedFileSizeConsumeQueueExt", 48 << 20, least=1)
    enable_calc_filter_bit_map: bool = _setting("enableCalcFilterBitMap", False)
    expect_consumer_num_use_filter: int = _setting("expectConsumerNumUseFilter", 32, (4, 2, 0), least=1)
    max_error_rate_of_bloom_filter: int = _setting("maxErrorRateOfBloomFilter", 20, (4, 2, 0), least=1)
    message_index_enable: bool = _setting("messageIndexEnable", True)
    message_index_safe: bool = _setting("messageIndexSafe", False)
    index_file_write_enable: bool = _setting("indexFileWriteEnable", True, (5, 4, 0))
    index_file_read_enable: bool = _setting("indexFileReadEnable", True, (5, 4, 0))
    index_rocksdb_enable: bool = _setting("indexRocksDBEnable", False, (5, 4, 0))
    max_hash_slot_num: int = _setting("maxHashSlotNum", 5_000_000, least=1)
    max_index_num: int = _setting("maxIndexNum", 20_000_000, least=2)
    check_crc_on_recover: bool = _setting("checkCRCOnRecover", True)
    force_verify_prop_crc: bool = _setting("forceVerifyPropCRC", False, (5, 2, 0))
    enabled_append_prop_crc: bool = _setting("enabledAppendPropCRC", False, (5, 2, 0))
    duplication_enable: bool = _setting("duplicationEnable", False)
    flush_disk_type: str = _setting("flushDiskType", "ASYNC_FLUSH")
    broker_role: str = _setting("brokerRole", "ASYNC_MASTER")
    broker_id: int = _setting("brokerId", 0)
    enable_controller_mode: bool = _setting("enableControllerMode", False, (5, 0, 0))
    enable_dleger_commit_log: bool = _setting("enableDLegerCommitLog", False, (4, 5, 0))
    dleger_peers: str = _setting("dLegerPeers", "", (4, 5, 0))
    transient_store_pool_enable: bool = _setting("transientStorePoolEnable", False)
    store_type: str = _setting("storeType", "default", (5, 1, 4))
    config_manager_version: str = _setting("configManagerVersion", "v1", (5, 3, 2))
    use_single_rocksdb_for_all_configs: bool = _setting("useSingleRocksDBForAllConfigs", False, (5, 4, 0))
    transfer_metadata_json_to_rocksdb: bool = _setting(
        "transferMetadataJsonToRocksdb", False, (5, 3, 1), gone_in=(5, 3, 2)
    )
    transfer_offset_json_to_rocksdb: bool = _setting("transferOffsetJsonToRocksdb", False, (5, 3, 1), gone_in=(5, 3, 2))
    trans_rocksdb_enable: bool = _setting("transRocksDBEnable", False, (5, 4, 0))
    trans_write_origin_trans_half_enable: bool = _setting("transWriteOriginTransHalfEnable", True, (5, 4, 0))
    rocksdb_cq_double_write_enable: bool = _setting("rocksdbCQDoubleWriteEnable", False, (5, 3, 1))
    combine_cq_max_extra_search_commit_log_files: int = _setting("combineCQMaxExtraSearchCommitLogFiles", 3, (5, 4, 0))
    combine_cq_loading_cq_types: str = _setting("combineCQLoadingCQTypes", "default;defaultRocksDB", (5, 4, 0))
    combine_cq_prefer_cq_type: str = _setting("combineCQPreferCQType", "default", (5, 4, 0))
    combine_assign_offset_cq_type: str = _setting("combineAssignOffsetCQType", "default", (5, 4, 0))
    combine_cq_use_rocksdb_for_lmq: bool = _setting("combineCQUseRocksdbForLmq", False, (5, 5, 0))
    rocksdb_cq_selective_double_write_enable: bool = _setting("rocksdbCQSelectiveDoubleWriteEnable", False, (5, 5, 1))
    use_separate_store_path_for_rocksdb_cq: bool = _setting("useSeparateStorePathForRocksdbCQ", False, (5, 5, 0))
    store_path_root_dir: str = _setting("storePathRootDir", "")
    store_path_commit_log: str = _setting("storePathCommitLog", "")
    read_only_commit_log_store_paths: str = _setting("readOnlyCommitLogStorePaths", "", (4, 9, 2))
    store_path_dledger_commit_log: str = _setting("storePathDLedgerCommitLog", "", (4, 9, 4))
    store_path_epoch_file: str = _setting("storePathEpochFile", "", (5, 0, 0))
    tiered_store_file_path: str = _setting("tieredStoreFilePath", "", (5, 1, 2))
    multi_path_splitter: str = _setting("rocketmq.broker.multiPathSplitter", ",", (4, 9, 2))
    read_un_committed: bool = _setting("readUnCommitted", False, (5, 3, 0))
    recheck_reput_offset_from_cq: bool = _setting("recheckReputOffsetFromCq", False, (5, 0, 0))
    enable_lmq: bool = _setting("enableLmq", False, (4, 9, 3))
    enable_compaction: bool = _setting("enableCompaction", True, (5, 1, 0))
    compaction_mapped_file_size: int = _setting("compactionMappedFileSize", 100 << 20, (5, 1, 0), least=1)
    compaction_cq_mapped_file_size: int = _setting("compactionCqMappedFileSize", 10 << 20, (5, 1, 0), least=46)
    compaction_thread_num: int = _setting("compactionThreadNum", 6, (5, 1, 0))
    max_offset_map_size: int = _setting("maxOffsetMapSize", 100 << 20, (5, 1, 0))
    timer_wheel_enable: bool = _setting("timerWheelEnable", True, (5, 0, 0))
    timer_rocksdb_enable: bool = _setting("timerRocksDBEnable", False, (5, 4, 0))
    mapped_file_size_timer_log: int = _setting("mappedFileSizeTimerLog", 100 << 20, (5, 0, 0), least=1)
    enable_multi_dispatch: bool = _setting("enableMultiDispatch", False, (4, 9, 3))
    auto_message_version_on_topic_len: bool = _setting("autoMessageVersionOnTopicLen", True, (5, 1, 0))
    max_message_size: int = _setting("maxMessageSize", 4 << 20)
    message_delay_level: str = _setting("messageDelayLevel", DELAY_LEVELS)
    commit_log_recover_max_num: int = _setting("commitLogRecoverMaxNum", 10, (5, 4, 0))
    check_commit_log_offset_on_recover: bool = _setting("checkCommitLogOffsetOnRecover", False, (5, 5, 0))
    enable_accelerated_recovery: bool = _setting("enableAcceleratedRecovery", False, (5, 3, 4))
    delete_when: str = _setting("deleteWhen", "04")
    file_reserved_time: int = _setting("fileReservedTime", 72)
    disk_max_used_space_ratio: int = _setting("diskMaxUsedSpaceRatio", 75)
    disk_space_warning_level_ratio: int = _setting("diskSpaceWarningLevelRatio", 90, (5, 0, 0))
    disk_space_clean_forcibly_ratio: int = _setting("diskSpaceCleanForciblyRatio", 85, (5, 0, 0))
    clean_file_forcibly_enable: bool = _setting("cleanFileForciblyEnable", True)
    clean_resource_interval: int = _setting("cleanResourceInterval", 10_000)
    delete_commit_log_files_interval: int = _setting("deleteCommitLogFilesInterval", 100)
    delete_consume_queue_files_interval: int = _setting("deleteConsumeQueueFilesInterval", 100)
    delete_file_batch_max: int = _setting("deleteFileBatchMax", 10, (5, 0, 0))
    destroy_maped_file_interval_forcibly: int = _setting("destroyMapedFileIntervalForcibly", 120_000)
    redelete_hanged_file_interval: int = _setting("redeleteHangedFileInterval", 120_000)

    def __post_init__(self) -> None:
        for declared in dataclasses.fields(self):
            least, value = declared.metadata["least"], getattr(self, declared.name)
            if least is not None and value < least:
                raise WrongSetting(declared.metadata["java_name"], f"={value}: at least {least} is needed")

    @classmethod
    def from_config(cls, pairs: Mapping[str, str] | Iterable[tuple[str, str]]) -> StoreSettings:
        """Settings from `name=value` pairs under RocketMQ's names; names left out keep the broker's default.

        Raises:
            ValueError: a name that no forecast or rebuild asks for.
            WrongSetting: a value of the wrong kind.
        """
        given = dict(pairs)
        unknown = sorted(given.keys() - _BY_JAVA_NAME.keys())
        if unknown:
            raise ValueError(f"not a store setting that matters here: {', '.join(unknown)}")
        return cls(**{_BY_JAVA_NAME[name].name: _parse(_BY_JAVA_NAME[name], text) for name, text in given.items()})

    def with_config(self, pairs: Mapping[str, str] | Iterable[tuple[str, str]]) -> StoreSettings:
        """These settings with some of them replaced, named as in `from_config`."""
        given = dict(pairs)
        override = StoreSettings.from_config(given)
        return dataclasses.replace(self, **{(f := _BY_JAVA_NAME[name].name): getattr(override, f) for name in given})

    def as_config(self) -> dict[str, bool | int | str]:
        """Every setting under RocketMQ's name."""
        return {name: getattr(self, declared.name) for name, declared in _BY_JAVA_NAME.items()}

    @staticmethod
    def since(name: str) -> BrokerVersion | None:
        """The first version that has the setting of this name; None where no forecast or rebuild asks for it."""
        declared = _BY_JAVA_NAME.get(name)
        return None if declared is None else declared.metadata["since"]

    @staticmethod
    def is_read(name: str, version: BrokerVersion) -> bool | None:
        """Whether a broker of this version reads a setting of this name; None where no answer here needs it."""
        former = FORMER_NAMES.get(name)
        if former is not None:
            return version < RENAMED_IN
        declared = _BY_JAVA_NAME.get(name)
        if declared is None:
            return None
        return _has(version, declared) and not (name in FORMER_NAMES.values() and version < RENAMED_IN)

    def unknown_to(self, version: BrokerVersion) -> list[str]:
        """RocketMQ's names of settings that differ from the default although `version` does not know them."""
        return [
            name
            for name, declared in _BY_JAVA_NAME.items()
            if getattr(self, declared.name) != declared.metadata["default"] and not _has(version, declared)
        ]

    @property
    def consume_queue_file_size(self) -> int:
        """Bytes of a queue file: the setting rounded up to whole units. #getMappedFileSizeConsumeQueue."""
        return -(-self.mapped_file_size_consume_queue // CONSUME_QUEUE_UNIT_SIZE) * CONSUME_QUEUE_UNIT_SIZE

    @property
    def writes_index_files(self) -> bool:
        """CommitLogDispatcherBuildIndex#dispatch @5.4.0."""
        return self.message_index_enable and self.index_file_write_enable

    @property
    def answers_keys_from_database(self) -> bool:
        """DefaultMessageStore#queryMessage @5.4.0: rocksdbstore alone where no index file is read."""
        return self.index_rocksdb_enable and not self.index_file_read_enable

    @property
    def goes_by_message_database(self) -> bool:
        """Where a start begins hangs on what rocksdbstore notes, too. DefaultMessageStore#load, #recover @5.5.0."""
        return self.index_rocksdb_enable or self.trans_rocksdb_enable

    @property
    def flushes_synchronously(self) -> bool:
        return self.flush_disk_type == "SYNC_FLUSH"

    @property
    def is_alone_in_group(self) -> bool:
        """The DLedger node has no others to ask. `n0-host:port;n1-host:port`: a node's name ends at the first hyphen,
        and hosts may have some. MemberState#<init> of DLedger 0.2.2, 0.3.1.2."""
        return len({peer.partition("-")[0] for peer in self.dleger_peers.split(";") if peer}) == 1

    @property
    def uses_rocksdb_queues(self) -> bool:
        """MessageStoreConfig#isEnableRocksDBStore."""
        return self.store_type.lower() == ROCKSDB_STORE

    @property
    def reads_queue_database(self) -> bool:
        """Where a store has queues in files and in a database, the one that answers. MessageStoreConfig#storeType,
        CombineConsumeQueueStore#currentReadStore @5.4.0: with rocksdbCQDoubleWriteEnable combineCQPreferCQType says
        it; before 5.4.0, which does not have that setting, it is the files."""
        prefers = self.rocksdb_cq_double_write_enable and self.combine_cq_prefer_cq_type.lower() == ROCKSDB_STORE
        return self.uses_rocksdb_queues or prefers

    @property
    def loaded_queue_stores(self) -> frozenset[str]:
        """The stores of queues that are combined; words that are none are passed over. StoreType#fromString @5.4.0."""
        named = {word.strip().lower() for word in self.combine_cq_loading_cq_types.split(";")}
        return frozenset(named & {FILE_STORE, ROCKSDB_STORE})

    @property
    def combining_queue_stores(self) -> tuple[str, str]:
        """The one that gives out queue offsets, and the one that answers. CombineConsumeQueueStore#<init> @5.4.0."""
        return self.combine_assign_offset_cq_type.lower(), self.combine_cq_prefer_cq_type.lower()

    def light_queues_in_database(self, version: BrokerVersion) -> bool:
        """Of combined stores of queues the database alone has those of light topics, and no file gets units of them.

        MultiDispatchUtils#checkMultiDispatchQueue @5.5.0.
        """
        is_set = self.combine_cq_use_rocksdb_for_lmq and self.is_read("combineCQUseRocksdbForLmq", version) is True
        return is_set and self.rocksdb_cq_double_write_enable

    @property
    def opens_queue_database(self) -> bool:
        """A RocksDBConsumeQueueStore is made, for all queues or beside their files."""
        return self.uses_rocksdb_queues or self.rocksdb_cq_double_write_enable

    @property
    def queue_database_folder(self) -> str:
        """Where it lies, below the root. RocksDBConsumeQueueStore#<init> @5.5.0."""
        return QUEUE_DATABASES[self.use_separate_store_path_for_rocksdb_cq]

    @property
    def keeps_tables_in_one_database(self) -> bool:
        """ConfigManagerVersion#V2."""
        return self.config_manager_version == "v2"


_BY_JAVA_NAME: dict[str, dataclasses.Field[Any]] = {
    declared.metadata["java_name"]: declared for declared in dataclasses.fields(StoreSettings)
}


def _has(version: BrokerVersion, declared: dataclasses.Field[Any]) -> bool:
    since, gone_in = declared.metadata["since"], declared.metadata["gone_in"]
    return bool(version >= since and (gone_in is None or version < gone_in))


def broker_conf_pairs(path: Path) -> dict[str, str]:
    """Every `name=value` of a broker.conf. Raises OSError where it cannot be read."""
    return {name: value for _, name, value in _conf_lines(path)}


def broker_conf_line(path: Path, setting: str) -> int | None:
    """The line of a broker.conf that decides this setting, under its name of today or its former one."""
    named = [number for number, name, _ in _conf_lines(path) if setting in (name, FORMER_NAMES.get(name))]
    return named[-1] if named else None


def _conf_lines(path: Path) -> Iterator[tuple[int, str, str]]:
    """Number, name and value of each line with a setting. Raises OSError."""
    text = read_small(path, MOST_CONF_BYTES).decode("utf-8", "replace")
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if line and not line.startswith(("#", "!")):
            name, _, value = line.partition("=")
            yield number, name.strip(), value.strip()


def _parse(declared: dataclasses.Field[Any], text: str) -> Any:
    name, default = declared.metadata["java_name"], declared.metadata["default"]
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise WrongSetting(name, f" is true or false, not {text!r}")
        return text.lower() == "true"
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise WrongSetting(name, f" is a whole number, not {text!r}") from None
    if "\0" in text:
        raise WrongSetting(name, f" has a NUL in it: {text!r}")
    return text
