-- Which kinds of files do the stores hold, and how much of them is used?
SELECT broker,
       kind,
       count(*)                AS files,
       sum(size)::BIGINT       AS size,
       sum(used_bytes)::BIGINT AS used_bytes
FROM store_files
WHERE gone_at IS NULL
GROUP BY broker, kind
ORDER BY broker, kind;
