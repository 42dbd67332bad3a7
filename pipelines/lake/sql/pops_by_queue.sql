-- POP by group and queue: acknowledged, in flight (of these overdue by now), delivered again, unread, and the lag of both.
-- SET VARIABLE now_ms = … asks for another instant (epoch milliseconds).
WITH popped AS MATERIALIZED (
    SELECT
        broker,
        "group",
        topic,
        queue_id,
        count(*) AS popped,
        count(*) FILTER (state = 'acked') AS acked,
        count(*) FILTER (state = 'in_flight') AS in_flight,
        count(*) FILTER (state = 'in_flight' AND epoch_ms(invisible_until) <= coalesce(getvariable('now_ms'), epoch_ms(now()))) AS overdue,
        count(*) FILTER (state = 'revived') AS revived,
        count(*) FILTER (state = 'passed') AS passed,
        count(*) FILTER (state = 'unmatched') AS unmatched,
        count(*) FILTER (state = 'unknown') AS unknown,
        list(queue_offset) FILTER (state = 'in_flight') AS in_flight_offsets,
        max(popped_at) AS last_popped,
        min(invisible_until) FILTER (state = 'in_flight') AS next_visible
    FROM popped_messages
    GROUP BY ALL
),

behind AS (
    SELECT lag.*
    FROM lag
    WHERE EXISTS (
        FROM popped
        WHERE popped."group" = lag."group" AND popped.broker IS NOT DISTINCT FROM lag.broker
            AND (popped.topic = lag.topic OR starts_with(lag.topic, concat('%RETRY%', lag."group")))
    )
)

SELECT
    coalesce(popped.broker, behind.broker) AS broker,
    coalesce(popped."group", behind."group") AS "group",
    coalesce(popped.topic, behind.topic) AS topic,
    coalesce(popped.queue_id, behind.queue_id) AS queue_id,
    coalesce(popped, 0) AS popped,
    coalesce(acked, 0) AS acked,
    coalesce(in_flight, 0) AS in_flight,
    coalesce(overdue, 0) AS overdue,
    coalesce(revived, 0) AS revived,
    coalesce(passed, 0) AS passed,
    coalesce(unmatched, 0) AS unmatched,
    coalesce(unknown, 0) AS unknown,
    messages_behind AS unread,
    -- what is in flight beyond the stored offset is unread too; an offset ahead of the queue says nothing of either
    CASE
        WHEN messages_behind >= 0
            THEN messages_behind + len(list_filter(coalesce(in_flight_offsets, []), lambda each: each < consumer_offset))
    END AS pop_lag,
    last_popped,
    next_visible,
    CASE
        WHEN behind."group" IS NULL THEN 'no offset of the group on this topic is stored'
        WHEN messages_behind IS NULL OR messages_behind < 0 THEN behind.reason
    END AS reason
FROM popped
FULL JOIN behind
    ON popped."group" = behind."group" AND popped.topic = behind.topic AND popped.queue_id = behind.queue_id
        AND popped.broker IS NOT DISTINCT FROM behind.broker
ORDER BY ALL
