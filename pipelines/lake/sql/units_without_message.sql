-- Which ConsumeQueue units point to no message, or to one of another size, although the log still reaches back that far?
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
WHERE coalesce(units.kind, 'unit') = 'unit'
  AND (messages.physical_offset IS NULL OR messages.total_size <> units.msg_size)
  AND units.physical_offset >= coalesce((
      SELECT min(kept.physical_offset) FROM commitlog_regions AS kept WHERE kept.broker = units.broker), 0)
ORDER BY units.broker, units.topic, units.queue_id, units.queue_offset;
