-- How far behind is each group, and how much of that is not known?
SELECT broker,
       "group",
       sum(messages_behind)::BIGINT                   AS messages_behind,
       CASE WHEN count(*) FILTER (coalesce(messages_behind, 1) > 0 AND seconds_behind IS NULL) = 0
            THEN max(seconds_behind) END              AS seconds_behind,
       count(*)                                       AS queues,
       count(*) FILTER (messages_behind > 0)          AS queues_behind,
       count(*) FILTER (status = 'unknown')           AS queues_unknown,
       count(*) FILTER (coalesce(messages_behind, 1) > 0 AND seconds_behind IS NULL) AS seconds_unknown
FROM lag
GROUP BY broker, "group"
ORDER BY messages_behind DESC NULLS FIRST, "group";
