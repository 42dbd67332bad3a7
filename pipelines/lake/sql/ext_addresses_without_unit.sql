-- Which ConsumeQueue units lead to an ext unit that is not there, or to one of another store time than their message?
SELECT units.broker,
       units.topic,
       units.queue_id,
       units.queue_offset,
       units.tags_code                                   AS ext_address,
       ext.store_timestamp_ms                            AS ext_store_timestamp_ms,
       epoch_ms(messages.store_timestamp)                AS message_store_timestamp_ms
FROM consumequeue_units AS units
LEFT JOIN ext_units AS ext
    ON ext.broker = units.broker AND ext.topic = units.topic AND ext.queue_id = units.queue_id
   AND ext.ext_address = units.tags_code
LEFT JOIN commitlog_messages AS messages
    ON messages.broker = units.broker AND messages.physical_offset = units.physical_offset
WHERE units.kind = 'unit' AND units.tags_code_kind = 'ext_address'
  AND (ext.ext_address IS NULL OR epoch_ms(messages.store_timestamp) <> ext.store_timestamp_ms)
ORDER BY units.broker, units.topic, units.queue_id, units.queue_offset;
