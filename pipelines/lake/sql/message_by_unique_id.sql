-- Where are the records of the messages stored more than once under one unique id (retries, delays, transactions)?
SELECT broker,
       unique_id,
       count(*)                                                    AS records,
       list(topic ORDER BY physical_offset)                        AS topics,
       list(physical_offset ORDER BY physical_offset)              AS physical_offsets,
       epoch(max(store_timestamp) - min(store_timestamp))          AS seconds_from_first_to_last
FROM commitlog_messages
WHERE unique_id IS NOT NULL
GROUP BY broker, unique_id
HAVING count(*) > 1
ORDER BY records DESC, unique_id
LIMIT 100;
