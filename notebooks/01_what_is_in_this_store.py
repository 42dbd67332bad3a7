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
from pipelines.notebook import open_desk
from pipelines.plots import bytes_of_files, counts_of, over_time

desk = open_desk()

# %% [markdown]
# ## Which files are there?
# A file that is not understood is listed with the reason, never passed over in silence.

# %%
desk.ask("files_by_kind")

# %%
desk.ask("not_understood")

# %% [markdown]
# ## Is every byte of the log accounted for?
# Each byte of a CommitLog file belongs to messages, to the blank at its end, to damage, to older records that a restart
# left behind, or is unwritten.

# %%
accounted = desk.ask("bytes_accounted_for")
assert (accounted["size"] == accounted["accounted_for"]).all()
bytes_of_files(accounted)

# %% [markdown]
# ## Which topics, and how much of each?
# System topics are in the same log: delayed messages wait in `SCHEDULE_TOPIC_XXXX`, timers in `rmq_sys_wheel_timer`,
# open transactions in `RMQ_SYS_TRANS_HALF_TOPIC`.

# %%
topics = desk.ask("messages_by_topic")
counts_of(topics, "topic", "messages", "messages by topic", "messages")

# %% [markdown]
# ## When were they stored?

# %%
rate = desk.ask("messages_per_second")
over_time(rate, "second", "messages", "messages stored per second", "messages/s")

# %% [markdown]
# ## What does one message look like?
# `properties` keeps the stored order; `unique_id` is the producer's, `message_id` says where the record is.

# %%
tagged = desk.ask("SELECT * FROM commitlog_messages WHERE tags IS NOT NULL ORDER BY physical_offset LIMIT 1")
tagged.transpose()

# %% [markdown]
# ## Do the queues point to their messages?
# Every unit of a ConsumeQueue says where a message starts and how long it is. These point to no message of that size:

# %%
loose = desk.ask("units_without_message")
units = int(desk.ask("SELECT count(*) AS n FROM consumequeue_units")["n"][0])
print(f"{units:,} units looked at, {len(loose):,} without their message")
loose.head()

# %% [markdown]
# ## One message, several records
# A retried, delayed or transactional message is stored again under the same unique id. So are messages of a client's
# batch that share one.

# %%
desk.ask("message_by_unique_id").head(10)

# %% [markdown]
# ## How far behind are the consumers?
# As `mqadmin consumerProgress` counts messages; seconds are the age of the oldest unread message. What is not known is
# empty, not zero.

# %%
desk.ask("lag_by_group")
