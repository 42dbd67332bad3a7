-- What clients traced, by group: sends and calls of listeners, how many failed (of a send: stored, but not confirmed as
-- flushed or copied), how long they took. The records of one call may lie on several brokers: its end is looked for on all.
WITH ended AS (SELECT DISTINCT request_id, message_id FROM trace_events WHERE trace_type = 'SubAfter'),
told AS (
    SELECT request_id, any_value("group") AS "group" FROM trace_events WHERE trace_type = 'SubBefore' GROUP BY ALL
)
SELECT
    events.broker,
    coalesce(events."group", told."group") AS "group",
    trace_type,
    count(*) AS records,
    count(*) FILTER (NOT success) AS failed,
    count(*) FILTER (trace_type = 'SubBefore' AND ended.request_id IS NULL) AS without_end,
    count(*) FILTER (retry_times > 0) AS again,
    CAST(round(avg(cost_ms)) AS BIGINT) AS mean_cost_ms,
    max(cost_ms) AS most_cost_ms,
    min(coalesce("at", stored_at)) AS first_at,
    max(coalesce("at", stored_at)) AS last_at,
    count(problem) AS problems
FROM trace_events AS events
LEFT JOIN ended ON ended.request_id = events.request_id AND ended.message_id = events.message_id
LEFT JOIN told ON told.request_id = events.request_id
GROUP BY ALL
ORDER BY ALL
