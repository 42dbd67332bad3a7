-- Which ConsumeQueue units point to no message, or to a message of another queue or size?
SELECT units.broker,
       units.topic,
       units.queue_id,
       units.queue_offset,
       units.physical_offset,
       units.msg_size,
       messages.topic      AS message_topic,
       messages.queue_id   AS message_queue_id,
       messages.total_size AS message_size
FROM consumequeue_units AS units
LEFT JOIN commitlog_messages AS messages USING (broker, physical_offset)
WHERE units.kind IS DISTINCT FROM 'pre_blank'
  AND (messages.physical_offset IS NULL OR messages.total_size <> units.msg_size)
ORDER BY units.broker, units.topic, units.queue_id, units.queue_offset;
