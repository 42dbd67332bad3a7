-- Transactions by producer group and topic: how they ended, how often they were checked, how old the oldest open one is.
SELECT
    broker,
    "group",
    topic,
    count(*) AS transactions,
    count(*) FILTER (state = 'committed') AS committed,
    count(*) FILTER (state = 'rolled_back') AS rolled_back,
    count(*) FILTER (state = 'pending') AS pending,
    count(*) FILTER (state = 'given_up') AS given_up,
    count(*) FILTER (state = 'unknown') AS unknown,
    count(*) FILTER (commits > 1) AS committed_twice,
    count(*) FILTER (state = 'committed' AND given_up_at IS NOT NULL) AS committed_and_given_up,
    max(checks) AS most_checks,
    min(stored_at) FILTER (state = 'pending') AS oldest_pending
FROM transactions
GROUP BY ALL
ORDER BY broker, "group", topic
