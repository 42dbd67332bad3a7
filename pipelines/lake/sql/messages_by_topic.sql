-- How much of each topic is in the CommitLog, and from when to when?
SELECT broker,
       topic,
       count(*)             AS messages,
       sum(total_size)      AS bytes,
       min(store_timestamp) AS first_stored,
       max(store_timestamp) AS last_stored
FROM commitlog_messages
GROUP BY broker, topic
ORDER BY messages DESC, topic;
