-- Queues of the loss ledger whose ranges leave a message number out, hold one twice, or do not reach the maximum.
WITH placed AS (
    SELECT *, lag(end_queue_offset, 1, 0) OVER (
        PARTITION BY broker, "group", topic, queue_id, life ORDER BY first_queue_offset
    ) AS before
    FROM loss_ledger
)
SELECT broker, "group", topic, queue_id, life, sum(messages) AS added_up, max(max_queue_offset) AS maximum,
       count(*) FILTER (first_queue_offset <> before) AS breaks
FROM placed
GROUP BY ALL
HAVING added_up <> maximum OR breaks > 0
ORDER BY ALL
