# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # How far behind are the consumers, and since when?
#
# A broker writes the offsets of its groups to `consumerOffset.json` every few seconds and forgets the state before.
# Where copies of that file were kept, lag has a history: **how many messages and how many seconds was each group
# behind at every one of those moments, is it catching up, and what of that is not known?** Messages are counted as
# `mqadmin consumerProgress` does; seconds are the age of the oldest message that was not consumed yet.
#
# As it stands the notebook looks at a recorded cluster that comes with rocketlens: its consumers stop, are killed and
# come back, and its offsets were copied every five seconds.

# %% [markdown]
# ## Your own store
# Two ways, in the cell below or by environment variables set before you start Jupyter:
# * `ROCKETLENS_CONFIG`: your `rocketlens.toml`. The history is asked from its lake, which keeps a snapshot of the
#   offsets at each ingest;
# * `ROCKETLENS_STORE` and `ROCKETLENS_OFFSETS`: a broker's store, and a folder of copies of its `consumerOffset.json`
#   (a copy was written at the epoch milliseconds in its name, else when the file was last changed).

# %%
import os

import rocketlens as rl

LAKE = rl.lake() if "ROCKETLENS_CONFIG" in os.environ else None
YOURS = os.environ.get("ROCKETLENS_STORE")
STORE = rl.store(YOURS or rl.bundled_store("orders-cluster"))
OFFSETS = os.environ.get("ROCKETLENS_OFFSETS") or STORE.path / "config" / "consumerOffset.json"
if not YOURS and not LAKE and os.environ.get("ROCKETLENS_OFFSETS"):
    raise rl.RocketlensError(
        "ROCKETLENS_OFFSETS is set and ROCKETLENS_STORE is not: the copies are of a store's offsets"
    )
if not YOURS:
    OFFSETS = rl.bundle("orders-cluster") / "offsets"

# %% [markdown]
# ## The history
# One row: a queue of a group at one moment.

# %%
history = LAKE.sql("lag_history") if LAKE else STORE.lag_history(OFFSETS)
print(f"{len(history):,} rows at {len(set(history['at'])):,} moments")
rl.sql('SELECT * FROM history ORDER BY "at" DESC LIMIT 3', history=history)

# %% [markdown]
# ## Messages and seconds behind, by group
# A group's figure is known when those of all its queues are; otherwise it is null, and hatched in the picture.

# %%
by_group = rl.sql(
    """
    SELECT "group", "at",
           CASE WHEN count(*) = count(messages_behind) THEN sum(messages_behind)::DOUBLE END AS messages_behind,
           CASE WHEN count(*) = count(seconds_behind) THEN max(seconds_behind) END AS seconds_behind,
           sum(consumer_offset)::BIGINT AS consumed, sum(broker_offset)::BIGINT AS stored
    FROM history GROUP BY ALL ORDER BY ALL
    """,
    history=history,
)
happened = [] if LAKE or YOURS else rl.replay(rl.bundle("orders-cluster")).incidents().rows
clients = [row for row in happened if row["kind"].startswith("client")]
rl.show(rl.lag_plot.lag_plot(by_group.to_pandas(), clients))

# %% [markdown]
# The dotted lines, where logs of the cluster are at hand, are clients that came and went: a killed consumer's queues
# wait until the broker notices.

# %% [markdown]
# ## Who was furthest behind, and when?
# `most seconds` is unknown where the seconds of any moment are: the most may have been then.

# %%
rl.sql(
    """
    SELECT "group", max(messages_behind)::BIGINT AS most_messages, arg_max("at", messages_behind) AS at_that_time,
           CASE WHEN count(*) = count(seconds_behind) THEN max(seconds_behind) END AS most_seconds,
           arg_max(messages_behind, "at")::BIGINT AS messages_at_the_end
    FROM by_group GROUP BY ALL ORDER BY most_messages DESC NULLS FIRST
    """,
    by_group=by_group,
)

# %% [markdown]
# ## Is it catching up?
# Messages stored and consumed per second between two moments. Consumed above stored: the lag shrinks.

# %%
rl.sql(
    """
    SELECT "group", "at",
           round((stored - lag(stored) OVER w) / epoch("at" - lag("at") OVER w), 1) AS stored_per_s,
           round((consumed - lag(consumed) OVER w) / epoch("at" - lag("at") OVER w), 1) AS consumed_per_s,
           messages_behind::BIGINT AS messages_behind
    FROM by_group WINDOW w AS (PARTITION BY "group" ORDER BY "at")
    QUALIFY consumed_per_s IS NOT NULL ORDER BY "group", "at" DESC
    """,
    by_group=by_group,
)

# %% [markdown]
# ## Which queues are behind now?

# %%
rl.sql(
    """
    SELECT "group", topic, queue_id, consumer_offset, broker_offset, messages_behind, seconds_behind
    FROM history QUALIFY "at" = max("at") OVER (PARTITION BY "group") AND messages_behind > 0
    ORDER BY messages_behind DESC, topic, queue_id LIMIT 12
    """,
    history=history,
)

# %% [markdown]
# ## What is not known, and why
# An unknown figure is null and never 0. Here also for the newest offsets in the lake or in your store, else for those
# in the demo's clean store, where a group has not committed on every queue.

# %%
if LAKE:
    now = LAKE.sql("SELECT * FROM lag")
else:
    now = (STORE if YOURS else rl.store(rl.bundled_store("5.3.3-clean"))).lag()
rl.sql(
    """
    SELECT "group", status, reason, count(*) AS queues, sum(messages_behind)::BIGINT AS messages_behind,
           count(*) FILTER (seconds_behind IS NULL) AS seconds_unknown
    FROM (SELECT * FROM now UNION ALL BY NAME (SELECT * FROM history QUALIFY "at" = max("at") OVER ()))
    WHERE reason IS NOT NULL GROUP BY ALL ORDER BY ALL
    """,
    now=now,
    history=history,
)
