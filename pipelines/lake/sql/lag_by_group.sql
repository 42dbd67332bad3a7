-- How far behind is each group, and how much of that is not known?
-- A figure is null where one of its queues has none; messages_behind_at_least leaves such queues out. An offset ahead of
-- its queue is not behind, and takes nothing from what other queues are behind.
SELECT broker,
       "group",
       CASE WHEN count(*) = count(messages_behind)
            THEN sum(greatest(messages_behind, 0))::BIGINT END AS messages_behind,
       coalesce(sum(messages_behind) FILTER (messages_behind > 0), 0)::BIGINT AS messages_behind_at_least,
       CASE WHEN count(*) = count(seconds_behind)
            THEN max(seconds_behind) END              AS seconds_behind,
       count(*)                                       AS queues,
       count(*) FILTER (messages_behind > 0)          AS queues_behind,
       count(*) FILTER (messages_behind < 0)          AS queues_ahead,
       count(*) FILTER (messages_behind IS NULL)      AS queues_unknown,
       count(*) FILTER (seconds_behind IS NULL)       AS seconds_unknown
FROM lag
GROUP BY broker, "group"
ORDER BY messages_behind DESC NULLS FIRST, messages_behind_at_least DESC, "group";
