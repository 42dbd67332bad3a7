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
# # What is in this store?
#
# A broker's store directory holds the log of every message (**CommitLog**), where each queue's messages are in it
# (**ConsumeQueue**), an **index** by key, a **checkpoint** and the broker's **configuration**. Here they are as
# tables, read from the lake that `python3 run.py demo` or `rocketlens ingest` filled. Nothing is written to a store.

# %%
import rocketlens as rl

lake = rl.lake()

# %% [markdown]
# ## Which files are there?
# A store keeps more than messages. `used bytes` is what was written; the rest of a file was reserved.

# %%
lake.sql("files_by_kind")

# %% [markdown]
# A file that is not understood is listed here with the reason, never passed over in silence.

# %%
lake.sql("not_understood")

# %% [markdown]
# ## Is every byte of the log accounted for?
# Each byte of a CommitLog file belongs to messages, to the blank at its end, to damage, to older records that a restart
# left behind, or is unwritten.

# %%
accounted = lake.sql("bytes_accounted_for")
assert accounted["size"] == accounted["accounted_for"]
rl.show(rl.plots.bytes_of_files(accounted.to_pandas()))

# %% [markdown]
# ## Which topics, and how much of each?
# System topics are in the same log: delayed messages wait in `SCHEDULE_TOPIC_XXXX`, timers in `rmq_sys_wheel_timer`,
# open transactions in `RMQ_SYS_TRANS_HALF_TOPIC`.

# %%
topics = lake.sql("messages_by_topic").to_pandas()
rl.show(rl.plots.counts_of(topics, "topic", "messages", "messages by topic", "messages"))

# %% [markdown]
# ## When were they stored?

# %%
rate = lake.sql("messages_per_second").to_pandas()
rl.show(rl.plots.over_time(rate, "second", "messages", "messages stored per second (UTC)", "messages/s"))

# %% [markdown]
# ## What does one message look like?
# `properties` keeps the stored order; `unique_id` is the producer's, `message_id` says where the record is. Bodies
# are in the lake when `bodies = true` in `rocketlens.toml`.

# %%
tagged = lake.sql("""
    SELECT * EXCLUDE (body, body_decompressed, compression, record_crc_ok)
    FROM commitlog_messages WHERE tags IS NOT NULL ORDER BY physical_offset LIMIT 1
""")
rl.show(tagged.to_pandas().T.reset_index(names="column").rename(columns={0: "value"}))

# %% [markdown]
# ## Do the queues point to their messages?
# Every unit of a ConsumeQueue says where a message starts and how long it is. These point to no message of that size,
# though the log still reaches back that far:

# %%
loose = lake.sql("units_without_message")
(units,) = lake.sql("SELECT count(*) AS n FROM consumequeue_units")["n"]
print(f"{units:,} units looked at, {len(loose):,} without their message")
loose.piece(shown=5)

# %% [markdown]
# ## One message, several records
# A retried, delayed or transactional message is stored again under the same unique id. So are messages of a client's
# batch that share one.

# %%
lake.sql("message_by_unique_id").piece(shown=10)

# %% [markdown]
# ## How far behind are the consumers?
# Messages are counted as `mqadmin consumerProgress` counts them; seconds are the age of the oldest unread message. What
# is not known says so, and is never zero. How it came to that is asked in `04_how_far_behind`.

# %%
lake.sql("lag_by_group")

# %% [markdown]
# ## Your own question
# SQL over every table; `lake.sql("SELECT …")` gives rows of Arrow, `.to_pandas()` a frame, and `%sql SELECT …` shows
# them. These are the tables, and what one row of each is.

# %%
lake.tables().piece(shown=100)
