-- Delayed messages by delay level and topic: pending, of these overdue by now, how late the others came.
-- SET VARIABLE now_ms = … asks for another instant (epoch milliseconds).
SELECT
    broker,
    kind,
    level,
    topic,
    count(*) AS messages,
    count(*) FILTER (state = 'delivered') AS delivered,
    count(*) FILTER (state = 'pending') AS pending,
    count(*) FILTER (state = 'pending' AND epoch_ms(due_at) <= coalesce(getvariable('now_ms'), epoch_ms(now()))) AS overdue,
    count(*) FILTER (state = 'rolled') AS rolled,
    count(*) FILTER (state IN ('deleted', 'deletion')) AS deleted,
    count(*) FILTER (state = 'passed') AS passed,
    count(*) FILTER (state = 'unknown') AS unknown,
    min(due_at) FILTER (state = 'pending') AS next_due,
    quantile_disc(late_ms, 0.5) AS late_p50_ms,
    quantile_disc(late_ms, 0.99) AS late_p99_ms,
    max(late_ms) AS late_max_ms,
    count(*) FILTER (deliveries > 1) AS delivered_twice,
    CASE
        WHEN count(*) FILTER (state = 'pending' AND expires_first IS NULL) = 0 THEN count(*) FILTER (expires_first)
    END AS expires_first
FROM delayed_messages
GROUP BY ALL
ORDER BY broker, kind, level, topic
