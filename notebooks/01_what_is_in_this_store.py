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
from pipelines.exhibit import show
from pipelines.notebook import open_desk
from pipelines.plots import bytes_of_files, counts_of, over_time

desk = open_desk()

# %% [markdown]
# ## Which files are there?
# A store keeps more than messages. `used bytes` is what was written; the rest of a file was reserved.

# %%
show(desk.ask("files_by_kind"))

# %% [markdown]
# A file that is not understood is listed here with the reason, never passed over in silence.

# %%
show(desk.ask("not_understood"))

# %% [markdown]
# ## Is every byte of the log accounted for?
# Each byte of a CommitLog file belongs to messages, to the blank at its end, to damage, to older records that a restart
# left behind, or is unwritten.

# %%
accounted = desk.ask("bytes_accounted_for")
assert (accounted["size"] == accounted["accounted_for"]).all()
show(bytes_of_files(accounted))

# %% [markdown]
# ## Which topics, and how much of each?
# System topics are in the same log: delayed messages wait in `SCHEDULE_TOPIC_XXXX`, timers in `rmq_sys_wheel_timer`,
# open transactions in `RMQ_SYS_TRANS_HALF_TOPIC`.

# %%
topics = desk.ask("messages_by_topic")
show(counts_of(topics, "topic", "messages", "messages by topic", "messages"))

# %% [markdown]
# ## When were they stored?

# %%
rate = desk.ask("messages_per_second")
show(over_time(rate, "second", "messages", "messages stored per second (UTC)", "messages/s"))

# %% [markdown]
# ## What does one message look like?
# `properties` keeps the stored order; `unique_id` is the producer's, `message_id` says where the record is. Bodies
# are in the lake when `bodies = true` in `rocketlens.toml`.

# %%
tagged = desk.ask("""
    SELECT * EXCLUDE (body, body_decompressed, compression, record_crc_ok)
    FROM commitlog_messages WHERE tags IS NOT NULL ORDER BY physical_offset LIMIT 1
""")
show(tagged.T.reset_index(names="column").rename(columns={0: "value"}))

# %% [markdown]
# ## Do the queues point to their messages?
# Every unit of a ConsumeQueue says where a message starts and how long it is. These point to no message of that size:

# %%
loose = desk.ask("units_without_message")
units = int(desk.ask("SELECT count(*) AS n FROM consumequeue_units")["n"][0])
print(f"{units:,} units looked at, {len(loose):,} without their message")
show(loose.head())

# %% [markdown]
# ## One message, several records
# A retried, delayed or transactional message is stored again under the same unique id. So are messages of a client's
# batch that share one.

# %%
show(desk.ask("message_by_unique_id").head(10))

# %% [markdown]
# ## How far behind are the consumers?
# Messages are counted as `mqadmin consumerProgress` counts them; seconds are the age of the oldest unread message. What
# is not known says so, and is never zero. How it came to that is asked in `04_how_far_behind`.

# %%
show(desk.ask("lag_by_group"))

# %% [markdown]
# ## Your own question
# SQL over every table; `desk.ask("SELECT …")` gives a pandas frame. These are the tables, and what one row of each is.

# %%
show(desk.ask("SELECT view_name AS name, comment FROM duckdb_views() WHERE NOT internal ORDER BY 1"))
