"""Starts of which a rule is known to exist and is not played: all that it decides is unknown, and nothing is advised.

Source: DLedgerCommitLog @4.5.0, CommitLog#recoverNormally @5.4.0 (enableAcceleratedRecovery),
ScheduleMessageService#correctDelayOffset @5.3.1 to 5.5.0, CombineConsumeQueueStore#start @5.4.0, read and not
recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recovery.broker.store_folder import Evidence
from recovery.rules.settings import FILE_STORE, ROCKSDB_STORE, StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.start.load_queues import parts_wrongly


@dataclass(frozen=True, slots=True)
class NotPlayed:
    """What of a start stays open, and why. `whole`: all of it does; else what start() dispatches, and what follows."""

    what: str
    why: str
    whole: bool = True


def not_played(evidence: Evidence, version: BrokerVersion, settings: StoreSettings) -> Iterator[NotPlayed]:
    """What of a broker's start on this store is not played; nothing where all of it is."""
    if evidence.log_is_dledgers and not version.has_dledger:
        why = f"{version} has no DLedger: it does not read the node's log, and writes a commitlog/ of its own from 0"
        yield NotPlayed("what a broker without DLedger makes of the queues and index of a DLedger log", why)
    if evidence.message_notes is None and version.keeps_messages_in_database:
        why = "with indexRocksDBEnable or transRocksDBEnable it hangs on rocksdbstore/, which cannot be read"
        yield NotPlayed("from which file on the log is read", why)
    if not version.keeps_queues_in_rocksdb:
        return
    has_database = evidence.database is not None
    if has_database and settings.enable_accelerated_recovery and not version.recovers_databases_accelerated:
        why = "before 5.5.1 it may read a database's log from before its first byte and delete files that are whole"
        yield NotPlayed("what enableAcceleratedRecovery does to the log", f"{why}; set it to false")
    if has_database and settings.recheck_reput_offset_from_cq:
        why = (
            "it begins behind the last message of SCHEDULE_TOPIC_XXXX where the broker asked for its queues before, "
            "and else at the log's start: all messages before it may stay without a unit"
        )
        yield NotPlayed("where dispatch begins with recheckReputOffsetFromCq", why, whole=False)
    combines = settings.rocksdb_cq_double_write_enable and not settings.uses_rocksdb_queues
    assigns, answers = settings.combining_queue_stores
    is_made = {assigns, answers} <= settings.loaded_queue_stores
    refuses = not is_made or parts_wrongly(version, settings) is not None
    if combines and version.combines_queue_stores and not refuses and (assigns, answers) == (ROCKSDB_STORE, FILE_STORE):
        why = (
            f"one gives out queue offsets (combineAssignOffsetCQType={assigns}), and one answers ({answers}): which "
            "queues it compares hangs on what was asked for, and how far a thread has filled the database by then"
            + (f"; {version} does not come up in any case" if version.needs_database_for_light_queues else "")
        )
        yield NotPlayed("where both stores of queues end, and whether the broker starts", why)
    yield from _about_folders(evidence, version, settings)


def _about_folders(evidence: Evidence, version: BrokerVersion, settings: StoreSettings) -> Iterator[NotPlayed]:
    """A database of queues that this version opens and that was not read, or only in part."""
    opens = evidence.database is not None or version.combines_queue_stores
    apart = settings.use_separate_store_path_for_rocksdb_cq and not version.may_keep_database_apart
    if opens and apart and evidence.database_elsewhere is not None:
        why = f"{version} does not have useSeparateStorePathForRocksdbCQ and opens {evidence.database_elsewhere}/"
        yield NotPlayed("what the database of queues holds", f"{why}; leave the setting out")
    second = evidence.second_database
    if second is not None and second.unreadable and version.combines_queue_stores and not apart:
        what = "how much is dispatched again, and what a broker does when it meets the damage"
        why = f"parts of the database beside the queue files cannot be read: {'; '.join(second.unreadable[:3])}"
        yield NotPlayed(what, why, whole=False)
