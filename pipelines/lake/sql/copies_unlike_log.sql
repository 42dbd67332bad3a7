-- Which copies of a compacted topic are unlike every message that the log still has under their number?
SELECT copies.broker,
       copies.file,
       copies.position,
       copies.topic,
       copies.queue_id,
       copies.queue_offset,
       copies.keys,
       max(messages.physical_offset) AS physical_offset
FROM compacted_messages AS copies
JOIN commitlog_messages AS messages USING (broker, topic, queue_id, queue_offset)
GROUP BY ALL
HAVING NOT bool_or((copies.body_crc, copies.body_size, copies.keys, copies.store_timestamp)
                   IS NOT DISTINCT FROM
                   (messages.body_crc, messages.body_size, messages.keys, messages.store_timestamp))
ORDER BY copies.broker, copies.topic, copies.queue_id, copies.queue_offset;
