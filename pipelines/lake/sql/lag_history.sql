-- How far behind was each group on each queue of its topics, at every instant at which its offsets were kept?
WITH snapshots AS (
    SELECT broker, "group", topic, queue_id, date_trunc('milliseconds', written_at) AS "at",
           greatest(max(consumer_offset), 0) AS consumer_offset, TRUE AS is_stored
    FROM offset_snapshots
    WHERE kind <> 'pull' AND file NOT LIKE '%.bak'
    GROUP BY ALL
), configured AS (
    SELECT broker, topic, arg_max(read_queue_nums, written_at) AS read_queue_nums FROM topic_configs GROUP BY ALL
), kept AS (
    FROM snapshots
    UNION ALL BY NAME
    SELECT DISTINCT snapshots.broker, snapshots."group", snapshots.topic, queues.queue_id, snapshots."at",
           0 AS consumer_offset, FALSE AS is_stored
    FROM snapshots
    JOIN configured USING (broker, topic)
    JOIN queues ON snapshots.broker = queues.broker AND snapshots.topic = queues.topic
     AND queues.queue_id < configured.read_queue_nums
    ANTI JOIN snapshots AS own
      ON snapshots.broker = own.broker AND snapshots."group" = own."group" AND snapshots.topic = own.topic
     AND queues.queue_id = own.queue_id AND snapshots."at" = own."at"
), stored AS (
    SELECT units.broker, units.topic, units.queue_id, units.queue_offset, messages.store_timestamp
    FROM consumequeue_units AS units
    JOIN commitlog_messages AS messages USING (broker, physical_offset)
), ends AS (
    SELECT broker, topic, queue_id, store_timestamp, max(queue_offset) + 1 AS broker_offset
    FROM stored
    GROUP BY ALL
), placed AS (
    SELECT kept.*, coalesce(queues.max_queue_offset - queues.messages, 0) AS min_queue_offset,
           CASE WHEN queues.queue_id IS NULL THEN '{no_files}' END AS no_files,
           CASE WHEN kept.topic LIKE '\%LMQ\%%' ESCAPE '\' OR configured.topic IS NOT NULL
                THEN coalesce(ends.broker_offset, queues.max_queue_offset - queues.messages, 0) END AS broker_offset
    FROM kept
    ASOF LEFT JOIN ends
      ON kept.broker = ends.broker AND kept.topic = ends.topic AND kept.queue_id = ends.queue_id
     AND kept."at" >= ends.store_timestamp
    LEFT JOIN queues ON kept.broker = queues.broker AND kept.topic = queues.topic AND kept.queue_id = queues.queue_id
    LEFT JOIN configured ON kept.broker = configured.broker AND kept.topic = configured.topic
)
SELECT placed.broker, "group", placed.topic, placed.queue_id, "at", broker_offset, consumer_offset,
       broker_offset - consumer_offset AS messages_behind,
       CASE WHEN broker_offset = consumer_offset THEN 0.0
            WHEN is_stored AND broker_offset > consumer_offset AND oldest.store_timestamp IS NOT NULL
            THEN greatest(0.0, epoch_ms("at") - epoch_ms(oldest.store_timestamp)) / 1000 END AS seconds_behind,
       CASE WHEN broker_offset IS NULL THEN 'unknown'
            WHEN broker_offset = consumer_offset THEN 'zero' ELSE 'number' END AS status,
       CASE WHEN broker_offset IS NULL THEN 'the topic is not in topics.json: its end is not known'
            WHEN NOT is_stored THEN CASE WHEN broker_offset > 0 THEN '{not_stored}' ELSE '{nothing_to_read}' END
            WHEN no_files IS NOT NULL
            THEN CASE WHEN broker_offset = consumer_offset THEN '' ELSE '{ahead}: ' END || no_files
            WHEN broker_offset < consumer_offset
            THEN '{became_shorter}'
            ELSE nullif(concat_ws('; ',
                CASE WHEN least(min_queue_offset, broker_offset) > consumer_offset
                     THEN (least(min_queue_offset, broker_offset) - consumer_offset) || ' {deleted_unread}' END,
                CASE WHEN broker_offset > consumer_offset AND oldest.store_timestamp IS NULL
                     THEN 'seconds unknown: {oldest_not_found}' END), '') END AS reason
FROM placed
LEFT JOIN stored AS oldest
  ON placed.broker = oldest.broker AND placed.topic = oldest.topic AND placed.queue_id = oldest.queue_id
 AND oldest.queue_offset = greatest(consumer_offset, min_queue_offset) AND oldest.queue_offset < broker_offset
ORDER BY ALL;
