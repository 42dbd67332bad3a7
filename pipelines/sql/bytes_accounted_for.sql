-- Does every byte of every CommitLog file belong to a message, a blank, damage or unwritten space?
SELECT regions.broker,
       regions.file,
       any_value(files.size)                                                AS size,
       sum(regions.length)                                                  AS accounted_for,
       coalesce(sum(regions.length) FILTER (regions.kind = 'messages'), 0)  AS messages,
       coalesce(sum(regions.length) FILTER (regions.kind = 'blank'), 0)     AS blank,
       coalesce(sum(regions.length) FILTER (regions.kind = 'damage'), 0)    AS damage,
       coalesce(sum(regions.length) FILTER (regions.kind = 'stale'), 0)     AS stale,
       coalesce(sum(regions.length) FILTER (regions.kind = 'unwritten'), 0) AS unwritten
FROM commitlog_regions AS regions
LEFT JOIN store_files AS files USING (broker, file)
GROUP BY regions.broker, regions.file
ORDER BY regions.broker, regions.file;
