-- Which timers point to no message, or to one of another size, although the log still reaches back that far?
SELECT timers.broker,
       timers.file,
       timers.position,
       timers.due_time,
       timers.physical_offset,
       timers.msg_size,
       messages.total_size AS message_size
FROM timer_records AS timers
LEFT JOIN commitlog_messages AS messages USING (broker, physical_offset)
WHERE messages.total_size IS DISTINCT FROM timers.msg_size
  AND timers.physical_offset >= coalesce((
      SELECT min(kept.physical_offset) FROM commitlog_messages AS kept WHERE kept.broker = timers.broker), 0)
ORDER BY ALL;
