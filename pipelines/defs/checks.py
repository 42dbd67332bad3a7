"""What must hold of the raw tables: every byte accounted for, every CRC right, every file understood."""

from __future__ import annotations

import dagster as dg

from pipelines.defs.lakehouse import Lakehouse
from pipelines.lake.catalog import question

SHOWN = 20
PLACES_OF_MESSAGES = (
    r"^(commitlog|consumequeue|batchconsumequeue|index|timerlog|dledger-[^/]*|compaction/compaction[^/]*)/"
)


def check(
    asset: str, name: str, description: str, sql: str, *, severity: dg.AssetCheckSeverity
) -> dg.AssetChecksDefinition:
    """A check that passes when its question has no rows; the first ones are shown when it has some.

    It asks the whole table through DuckDB, never partition by partition.
    """

    @dg.asset_check(asset=asset, name=name, description=description)
    def asked(lakehouse: Lakehouse) -> dg.AssetCheckResult:
        lake = lakehouse.lake()
        rows = lake.query(sql).to_pylist()
        shown = [dg.TableRecord({key: _cell(value) for key, value in row.items()}) for row in rows[:SHOWN]]
        metadata: dict[str, dg.RawMetadataValue] = {"violations": len(rows), "rows_in_table": lake.rows(asset)}
        if shown:
            metadata["first"] = dg.MetadataValue.table(shown)
        return dg.AssetCheckResult(passed=not rows, severity=severity, metadata=metadata)

    return asked


def _cell(value: object) -> str | int | float | bool | None:
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN

STORE_CHECKS = [
    check(
        "commitlog_regions",
        "every_byte_accounted_for",
        "The ranges of each CommitLog file add up to its size.",
        f"SELECT * FROM ({question('bytes_accounted_for')}) WHERE size IS DISTINCT FROM accounted_for",
        severity=ERROR,
    ),
    check(
        "commitlog_regions",
        "no_damage",
        "No CommitLog file holds bytes that are neither a message, a blank, an older record nor unwritten.",
        "SELECT broker, file, file_pos, length, reason FROM commitlog_regions WHERE kind = 'damage' ORDER BY ALL",
        severity=ERROR,
    ),
    check(
        "commitlog_messages",
        "every_crc_right",
        "Every stored body, and every record that carries a CRC of itself, has it.",
        "SELECT broker, file, physical_offset, topic, crc_ok, record_crc_ok FROM commitlog_messages "
        "WHERE NOT crc_ok OR NOT record_crc_ok ORDER BY ALL",
        severity=ERROR,
    ),
    check(
        "commitlog_messages",
        "offsets_unique",
        "No byte of the log starts two messages: slices of a file overlap nowhere.",
        "SELECT broker, physical_offset, count(*) AS n FROM commitlog_messages GROUP BY ALL HAVING n > 1 ORDER BY ALL",
        severity=ERROR,
    ),
    check(
        "consumequeue_units",
        "every_unit_has_its_message",
        "Every unit points to a message of its size.",
        question("units_without_message"),
        severity=ERROR,
    ),
    check(
        "timer_records",
        "every_timer_has_its_message",
        "Every timer points to a message of its size, unless the log no longer reaches back that far.",
        question("timers_without_message"),
        severity=ERROR,
    ),
    check(
        "store_files",
        "every_file_with_messages_read",
        "No file in a place of messages, units or index entries is left unread (others: see not_understood.sql).",
        f"SELECT * FROM ({question('not_understood')}) WHERE regexp_matches(file, '{PLACES_OF_MESSAGES}')",
        severity=ERROR,
    ),
    check(
        "lag",
        "every_lag_known",
        "Every queue of every group has a number or a proven zero.",
        "SELECT broker, \"group\", topic, queue_id, reason FROM lag WHERE status = 'unknown' ORDER BY ALL",
        severity=WARN,
    ),
    check(
        "consistency_findings",
        "files_agree",
        "No finding of severity error or critical.",
        "SELECT broker, severity, kind, place, evidence FROM consistency_findings "
        "WHERE severity IN ('error', 'critical') ORDER BY ALL",
        severity=ERROR,
    ),
    check(
        "recovery_forecast",
        "starts_without_loss",
        "A start of each broker would load the store and lose no message.",
        "SELECT broker, version, load_ok, lost_messages FROM recovery_forecast "
        "WHERE load_ok IS DISTINCT FROM true OR lost_messages > 0 ORDER BY ALL",
        severity=ERROR,
    ),
    check(
        "retention_risk",
        "nothing_deleted_unread",
        "No message was deleted before its group had consumed it.",
        'SELECT broker, "group", topic, queue_id, deleted_unread FROM retention_risk '
        "WHERE deleted_unread > 0 ORDER BY ALL",
        severity=WARN,
    ),
    check(
        "loss_ledger",
        "every_offset_in_one_state",
        "The ranges of each queue follow one another from 0, and add up to its maximum.",
        question("ledger_out_of_balance"),
        severity=ERROR,
    ),
    check(
        "loss_ledger",
        "nothing_lost",
        "No group misses messages: none expired unread, was cut off, damaged, or never got into its queue.",
        'SELECT broker, "group", topic, queue_id, state, first_queue_offset, end_queue_offset, reason FROM loss_ledger '
        "WHERE state IN ('expired_unread', 'truncated', 'never_dispatched', 'damaged') ORDER BY ALL",
        severity=WARN,
    ),
    check(
        "offset_events",
        "no_message_skipped",
        "No offset was moved past messages, and none will be with the next pull.",
        'SELECT broker, "group", topic, queue_id, kind, from_queue_offset, to_queue_offset, skipped, cause '
        "FROM offset_events WHERE skipped > 0 ORDER BY ALL",
        severity=WARN,
    ),
    check(
        "delayed_messages",
        "none_passed",
        "No delayed message was passed over: each one that the broker is past has its delivery in the log.",
        "SELECT broker, kind, level, topic, unique_id, due_at, state, reason FROM delayed_messages "
        "WHERE state IN ('passed', 'unknown') ORDER BY ALL",
        severity=WARN,
    ),
    check(
        "delayed_messages",
        "none_expires_first",
        "No pending delayed message has its log file deleted before it is due.",
        "SELECT broker, kind, level, topic, unique_id, due_at, expires_at FROM delayed_messages "
        "WHERE expires_first ORDER BY ALL",
        severity=WARN,
    ),
    check(
        "ownership_anomalies",
        "no_anomaly",
        "No queue had two owners, none, or another disorder.",
        'SELECT kind, "group", topic, queue_id, begin_at, end_at, cause FROM ownership_anomalies ORDER BY ALL',
        severity=WARN,
    ),
]
