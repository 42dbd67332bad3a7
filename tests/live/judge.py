"""What a lake must hold of a broker that has sent numbered messages: each once, in one chain, with unit and entries."""

from __future__ import annotations

from pipelines.lake.lake import Lake

FILE_BYTES = 16 << 20
QUESTIONS = {
    "messages that came twice or not at all": """
        SELECT count(*) FROM (
            SELECT n FROM generate_series(0, {numbered} - 1) AS every(n)
            LEFT JOIN (SELECT CAST(substr(keys, 2) AS BIGINT) AS n, count(*) AS times FROM commitlog_messages
                       WHERE topic LIKE 'Live%' GROUP BY 1) AS there USING (n)
            WHERE coalesce(times, 0) != 1 AND NOT list_contains({doubtful}, n))""",
    "numbers that nobody sent": """
        SELECT count(*) FROM commitlog_messages
        WHERE topic LIKE 'Live%' AND CAST(substr(keys, 2) AS BIGINT) >= {numbered}""",
    "records that do not begin where the one before ends": """
        SELECT count(*) FROM (
            SELECT physical_offset, lag(physical_offset + total_size, 1, 0) OVER (ORDER BY physical_offset) AS ends
            FROM commitlog_messages)
        WHERE physical_offset != ends AND (physical_offset % {file_bytes} != 0 OR physical_offset < ends)""",
    "records with a wrong CRC": "SELECT count(*) FROM commitlog_messages WHERE NOT coalesce(crc_ok, true)",
    "gaps and doubles in the queue offsets of messages": """
        SELECT count(*) FROM (
            SELECT queue_offset, row_number() OVER (PARTITION BY topic, queue_id ORDER BY physical_offset) - 1 AS place
            FROM commitlog_messages WHERE topic LIKE 'Live%')
        WHERE queue_offset != place""",
    "messages without their unit, or with two": """
        SELECT count(*) FROM (
            SELECT physical_offset, count(units.queue_offset) AS units
            FROM commitlog_messages AS log LEFT JOIN consumequeue_units AS units
            USING (topic, queue_id, queue_offset, physical_offset)
            WHERE topic LIKE 'Live%' GROUP BY ALL)
        WHERE units != 1""",
    "units without their message": """
        SELECT count(*) FROM consumequeue_units AS units ANTI JOIN commitlog_messages AS log
        USING (topic, queue_id, queue_offset, physical_offset)""",
    "messages that the index does not have twice: by their key, and by their id": """
        SELECT count(*) FROM (
            SELECT physical_offset, count(entries.entry_no) AS entries
            FROM commitlog_messages AS log LEFT JOIN index_entries AS entries USING (physical_offset)
            WHERE topic LIKE 'Live%' GROUP BY ALL)
        WHERE entries != 2""",
}


def wrong_rows(lake: Lake, numbered: int, doubtful: str) -> dict[str, int]:
    """By question the rows that are wrong, where there are any.

    Args:
        numbered: messages were given the numbers below it.
        doubtful: numbers of those of which the client does not know whether they were stored, as `[1, 2]`.
    """
    told = {}
    with lake.asked_often():
        for asked, text in QUESTIONS.items():
            question = text.format(numbered=numbered, doubtful=doubtful, file_bytes=FILE_BYTES)
            (row,) = lake.query(question).to_pylist()
            told[asked] = next(iter(row.values()))
    return {asked: rows for asked, rows in told.items() if rows}


def newest(lake: Lake) -> int | None:
    """The store time of the newest message that the lake holds, epoch ms."""
    (row,) = lake.query("SELECT epoch_ms(max(store_timestamp)) AS at FROM commitlog_messages").to_pylist()
    return row["at"]


def findings(lake: Lake) -> list[str]:
    """What the lake says is wrong: kind, place, range."""
    rows = lake.query('SELECT kind, severity, place, "begin", "end" FROM consistency_findings').to_pylist()
    return [f"{row['severity']} {row['kind']} {row['place']} [{row['begin']}, {row['end']})" for row in rows]
