"""What must hold of the tables: every byte accounted for, every CRC right, every file understood, nothing lost."""

from __future__ import annotations

import dagster as dg

from pipelines.defs.check import check
from pipelines.lake.questions import question

PLACES_OF_MESSAGES = (
    r"^(commitlog|consumequeue|batchconsumequeue|index|timerlog|dledger-[^/]*|compaction/compaction[^/]*)/"
)
MADE_AGAIN = "The lake is at fault, not the store: materialize the partitions of these files again."
READ_AGAIN = (
    "The lake is at fault, not the store: `rocketlens check-lake --repair` reads those of these files again that the "
    "store still holds."
)
SAYS_WHICH_IS_RIGHT = "The finding of these bytes in `consistency_findings` says which side is right and what is safe."


ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN

STORE_CHECKS = [
    check(
        "commitlog_regions",
        "every_byte_accounted_for",
        "The ranges of each CommitLog file add up to its size.",
        f"SELECT * FROM ({question('bytes_accounted_for')}) WHERE size IS DISTINCT FROM accounted_for",
        severity=ERROR,
        command="rocketlens check-lake",
        repair=MADE_AGAIN,
    ),
    check(
        "commitlog_regions",
        "no_damage",
        "No CommitLog file holds bytes that are neither a message, a blank, an older record nor unwritten.",
        'SELECT broker, file, file_pos AS begin, file_pos + length AS "end", reason '
        "FROM commitlog_regions WHERE kind = 'damage' ORDER BY ALL",
        severity=ERROR,
        command="rocketlens verify {store}",
        repair=SAYS_WHICH_IS_RIGHT,
    ),
    check(
        "commitlog_messages",
        "every_crc_right",
        "Every stored body, and every record that carries a CRC of itself, has it.",
        "SELECT broker, file, physical_offset, total_size, topic, crc_ok, record_crc_ok FROM commitlog_messages "
        "WHERE NOT crc_ok OR NOT record_crc_ok ORDER BY ALL",
        severity=ERROR,
        command="rocketlens verify {store}",
        repair=SAYS_WHICH_IS_RIGHT,
    ),
    check(
        "commitlog_messages",
        "offsets_unique",
        "No byte of the log starts two messages: slices of a file overlap nowhere.",
        "SELECT broker, physical_offset, count(*) AS n FROM commitlog_messages GROUP BY ALL HAVING n > 1 ORDER BY ALL",
        severity=ERROR,
        command="rocketlens check-lake",
        repair=READ_AGAIN,
    ),
    check(
        "consumequeue_units",
        "every_unit_has_its_message",
        "Every unit points to a message of its size, unless the log no longer reaches back that far.",
        question("units_without_message"),
        severity=ERROR,
        command="rocketlens verify {store}",
        repair=SAYS_WHICH_IS_RIGHT,
    ),
    check(
        "ext_units",
        "every_ext_address_leads_to_its_unit",
        "Every ConsumeQueue unit with an ext address has its ext unit, of its message's store time.",
        question("ext_addresses_without_unit"),
        severity=ERROR,
        command="rocketlens verify {store}",
        repair=SAYS_WHICH_IS_RIGHT,
    ),
    check(
        "compacted_messages",
        "copies_are_the_log",
        "Every copy of a compacted topic is what the log has under its number, where it still has that.",
        question("copies_unlike_log"),
        severity=ERROR,
        command="rocketlens verify {store}",
        repair=SAYS_WHICH_IS_RIGHT,
    ),
    check(
        "timer_records",
        "every_timer_has_its_message",
        "Every timer points to a message of its size, unless the log no longer reaches back that far.",
        question("timers_without_message"),
        severity=ERROR,
        command="rocketlens verify {store}",
        repair=SAYS_WHICH_IS_RIGHT,
    ),
    check(
        "store_files",
        "every_file_with_messages_read",
        "No file in a place of messages, units or index entries is left unread (others: see not_understood.sql).",
        f"SELECT * FROM ({question('not_understood')}) WHERE regexp_matches(file, '{PLACES_OF_MESSAGES}')",
        severity=ERROR,
        command="rocketlens sql not_understood",
    ),
    check(
        "lag",
        "every_lag_known",
        "Every queue of every group has a number or a proven zero.",
        "SELECT broker, \"group\", topic, queue_id, reason FROM lag WHERE status = 'unknown' ORDER BY ALL",
        severity=WARN,
        command="rocketlens lag {store}",
    ),
    check(
        "lag_episodes",
        "shares_are_the_whole",
        "The shares of each episode's causes add up to 1.",
        'SELECT broker, "group", topic, begin, message_seconds FROM lag_episodes WHERE message_seconds > 0 AND abs('
        "offset_moved + ownership_gap + lock_wait + dispatch_delay + hot_queue + burst + slow_client + unexplained - 1"
        ") > 1e-3 ORDER BY ALL",
        severity=ERROR,
        command="rocketlens sql 'SELECT * FROM lag_episodes'",
    ),
    check(
        "consistency_findings",
        "files_agree",
        "No finding of severity error or critical.",
        'SELECT broker, severity, kind, place, begin, "end", evidence, repair FROM consistency_findings '
        "WHERE severity IN ('error', 'critical') ORDER BY ALL",
        severity=ERROR,
        command="rocketlens verify {store}",
    ),
    check(
        "recovery_forecast",
        "starts_without_loss",
        "A start of each broker would come up, and is not known to lose anything: a message, its place in a queue or "
        "the index, configuration.",
        "SELECT broker, version, load_ok, starts, lost FROM recovery_forecast "
        "WHERE starts IS DISTINCT FROM true OR lost <> '' ORDER BY ALL",
        severity=ERROR,
        command="rocketlens forecast {store}",
        repair="The forecast says what would lose less, where anything would.",
    ),
    check(
        "retention_risk",
        "nothing_deleted_unread",
        "No message was deleted before its group had consumed it.",
        'SELECT broker, "group", topic, queue_id, deleted_unread FROM retention_risk '
        "WHERE deleted_unread > 0 ORDER BY ALL",
        severity=WARN,
        command="rocketlens retention {store}",
    ),
    check(
        "loss_ledger",
        "every_offset_in_one_state",
        "The ranges of each queue follow one another from 0, and add up to its maximum.",
        question("ledger_out_of_balance"),
        severity=ERROR,
        command="rocketlens ledger {store}",
    ),
    check(
        "loss_ledger",
        "nothing_lost",
        "No group misses messages: none expired unread, was cut off, damaged, or never got into its queue.",
        'SELECT broker, "group", topic, queue_id, state, first_queue_offset, end_queue_offset, reason FROM loss_ledger '
        "WHERE state IN ('expired_unread', 'truncated', 'never_dispatched', 'damaged') ORDER BY ALL",
        severity=WARN,
        command="rocketlens ledger {store} --lost",
    ),
    check(
        "backlog",
        "matching_among_unread",
        "No more messages match than are unread, and where any match the first of them is named.",
        'SELECT broker, "group", topic, queue_id, unread, matching FROM backlog '
        "WHERE matching > unread OR (matching > 0) <> (head_queue_offset IS NOT NULL) ORDER BY ALL",
        severity=ERROR,
        command="rocketlens backlog {store}",
    ),
    check(
        "offset_events",
        "no_message_skipped",
        "No offset was moved past messages, and none will be with the next pull.",
        'SELECT broker, "group", topic, queue_id, kind, from_queue_offset, to_queue_offset, skipped, cause '
        "FROM offset_events WHERE skipped > 0 ORDER BY ALL",
        severity=WARN,
        command="rocketlens offsets {store}",
    ),
    check(
        "group_starts",
        "starts_within_the_queue",
        "Where a new group begins lies between 0 and the queue's end, and the earliest is not behind the latest.",
        "SELECT broker, topic, queue_id, policy, earliest, latest, max_queue_offset FROM group_starts "
        "WHERE earliest < 0 OR latest > greatest(max_queue_offset, 0) OR earliest > latest ORDER BY ALL",
        severity=ERROR,
        command="rocketlens start-at {store} --topic TOPIC",
    ),
    check(
        "life_events",
        "none_vanished",
        "No topic vanished: where the queues of one are gone, something shows that somebody deleted it.",
        "SELECT broker, name, life, earliest, reason FROM life_events WHERE happened = 'vanished' ORDER BY ALL",
        severity=WARN,
        command="rocketlens lives {store}",
    ),
    check(
        "group_lives",
        "no_offset_of_a_former_life",
        "No group has an offset that may count messages of a life that is over, or is beyond its queue's end.",
        'SELECT broker, "group", doubtful_offsets, advice, reason FROM group_lives '
        "WHERE doubtful_offsets > 0 ORDER BY ALL",
        severity=WARN,
        command="rocketlens groups {store}",
    ),
    check(
        "delayed_messages",
        "none_passed",
        "No delayed message was passed over: each one that the broker is past has its delivery in the log.",
        "SELECT broker, kind, level, topic, unique_id, due_at, state, reason FROM delayed_messages "
        "WHERE state IN ('passed', 'unknown') ORDER BY ALL",
        severity=WARN,
        command="rocketlens delays {store} --messages",
    ),
    check(
        "delayed_messages",
        "none_expires_first",
        "No pending delayed message has its log file deleted before it is due.",
        "SELECT broker, kind, level, topic, unique_id, due_at, expires_at FROM delayed_messages "
        "WHERE expires_first ORDER BY ALL",
        severity=WARN,
        command="rocketlens delays {store} --messages",
    ),
    check(
        "tiered_queues",
        "tiered_is_the_log",
        "Every message of the tiered store's segments is the log's.",
        "SELECT broker, topic, queue_id, different, wrong FROM tiered_queues "
        "WHERE different > 0 OR wrong > 0 ORDER BY ALL",
        severity=WARN,
        command="rocketlens tiered {store}",
    ),
    check(
        "retry_chains",
        "no_dead_letter",
        "No group gave a message up.",
        'SELECT broker, "group", topic, queue_id, queue_offset, unique_id, failures, dead_at FROM retry_chains '
        "WHERE state = 'dead_letter' ORDER BY ALL",
        severity=WARN,
        command="rocketlens retries {store} --messages --dead",
    ),
    check(
        "retry_chains",
        "none_repeated",
        "No failure was stored twice: a message that was given back twice is consumed twice.",
        'SELECT broker, "group", topic, unique_id, failures, repeated FROM retry_chains '
        "WHERE repeated > 0 ORDER BY ALL",
        severity=WARN,
        command="rocketlens retries {store} --messages",
    ),
    check(
        "transactions",
        "every_transaction_ends",
        "No transaction was given up, or passed by the broker's check without a decision.",
        'SELECT broker, "group", topic, unique_id, state, checks, given_up_at, reason FROM transactions '
        "WHERE state IN ('given_up', 'unknown') ORDER BY ALL",
        severity=WARN,
        command="rocketlens transactions {store} --messages",
    ),
    check(
        "transactions",
        "none_committed_twice",
        "No transaction was committed twice: consumers would get it twice.",
        'SELECT broker, "group", topic, unique_id, commits, committed_at FROM transactions '
        "WHERE commits > 1 ORDER BY ALL",
        severity=WARN,
        command="rocketlens transactions {store} --messages",
    ),
    check(
        "popped_messages",
        "every_popped_message_ends",
        "Every popped message was acknowledged, or can be delivered again.",
        'SELECT broker, "group", topic, queue_id, queue_offset, unique_id, state, popped_at, reason '
        "FROM popped_messages WHERE state IN ('passed', 'unknown') ORDER BY ALL",
        severity=WARN,
        command="rocketlens pop {store} --messages",
    ),
    check(
        "popped_messages",
        "none_acked_and_revived",
        "No message was acknowledged and delivered again all the same.",
        'SELECT broker, "group", topic, queue_id, queue_offset, unique_id, acked_at, revived_at FROM popped_messages '
        "WHERE state = 'revived' AND acked_at IS NOT NULL ORDER BY ALL",
        severity=WARN,
        command="rocketlens pop {store} --messages",
    ),
    check(
        "trace_events",
        "nothing_traced_failed",
        "No client traced a call of a listener or a recall that failed, or a send that was stored and not confirmed as "
        "flushed or copied (to send it again is to have it twice).",
        'SELECT broker, "group", trace_type, topic, message_id, "at", cost_ms, result FROM trace_events '
        "WHERE NOT success ORDER BY ALL",
        severity=WARN,
        command="rocketlens traces {store} --messages",
    ),
    check(
        "trace_events",
        "every_trace_is_read",
        "Every trace record is as a client of a known release writes it.",
        "SELECT broker, trace_topic, physical_offset, record_number, problem FROM trace_events "
        "WHERE problem IS NOT NULL ORDER BY ALL",
        severity=WARN,
        command="rocketlens traces {store} --messages",
    ),
    check(
        "ownership_anomalies",
        "no_anomaly",
        "No queue had two owners, none, or another disorder.",
        'SELECT kind, "group", topic, queue_id, begin_at, end_at, cause FROM ownership_anomalies ORDER BY ALL',
        severity=WARN,
        command="rocketlens sql 'SELECT * FROM ownership_anomalies'",
    ),
]
