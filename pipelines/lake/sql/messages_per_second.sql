-- How many messages were stored in each second?
SELECT date_trunc('second', store_timestamp) AS second,
       count(*)                              AS messages,
       sum(total_size)                       AS bytes
FROM commitlog_messages
GROUP BY second
ORDER BY second;
