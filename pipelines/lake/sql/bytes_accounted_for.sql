-- Does every byte of every CommitLog file belong to a message, a blank, damage, older records or unwritten space?
SELECT broker,
       file,
       any_value(file_size)                                        AS size,
       sum(length)                                                 AS accounted_for,
       coalesce(sum(length) FILTER (kind = 'messages'), 0)         AS messages,
       coalesce(sum(length) FILTER (kind = 'blank'), 0)            AS blank,
       coalesce(sum(length) FILTER (kind = 'damage'), 0)           AS damage,
       coalesce(sum(length) FILTER (kind = 'stale'), 0)            AS stale,
       coalesce(sum(length) FILTER (kind = 'unwritten'), 0)        AS unwritten
FROM commitlog_regions
GROUP BY broker, file
ORDER BY broker, file;
