-- Messages that each group gave back: where they stand, how often they failed, from when to when.
SELECT
    broker,
    "group",
    string_agg(DISTINCT topic, ', ' ORDER BY topic) AS topics,
    count(*) AS messages,
    count(*) FILTER (state = 'dead_letter') AS dead_letters,
    count(*) FILTER (state = 'waiting') AS waiting,
    count(*) FILTER (state = 'unread') AS unread,
    count(*) FILTER (state = 'in_flight') AS in_flight,
    count(*) FILTER (state = 'consumed') AS consumed,
    count(*) FILTER (state = 'unknown') AS unknown,
    max(failures) AS most_failures,
    CAST(sum(repeated) AS BIGINT) AS repeated,
    min(first_failed_at) AS first_failed_at,
    max(last_failed_at) AS last_failed_at,
    min(due_at) AS next_due
FROM retry_chains
GROUP BY ALL
ORDER BY broker, "group"
