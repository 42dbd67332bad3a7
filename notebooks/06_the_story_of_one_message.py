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
# # The story of one message
#
# "Message X was never consumed", "message X was consumed twice": **when was X stored, which queue has it, does the
# index know it, who owned its queue then, who committed an offset past it, was it retried?** Each step is told with
# what proves it; what the evidence does not tell is a step that says so.
#
# As it stands the notebook looks at a recorded cluster that comes with rocketlens, and at a message that waited while
# its queue changed hands.

# %% [markdown]
# ## Your own message
# Its id (the producer's unique id, or host and position), the broker's store, and logs of brokers and clients: here, or
# by `ROCKETLENS_MESSAGE`, `ROCKETLENS_STORE` and `ROCKETLENS_LOGS` before you start Jupyter.

# %%
import os

import rocketlens as rl

YOURS = os.environ.get("ROCKETLENS_STORE")
STORE = rl.store(YOURS or rl.bundled_store("orders-cluster"))
LOGS = os.environ.get("ROCKETLENS_LOGS", "").split(os.pathsep) if YOURS else [rl.bundle("orders-cluster")]
LOGS = [place for place in LOGS if place]
MESSAGE = os.environ.get("ROCKETLENS_MESSAGE")
OFFSETS = None if YOURS else rl.bundle("orders-cluster") / "offsets"

# %% [markdown]
# Where no id is given: the messages that were stored while consumers were furthest behind. One of them is taken.

# %%
if not MESSAGE:
    some = STORE.messages(
        topic=None if YOURS else "orders",
        queue=None if YOURS else 0,
        since=None if YOURS else "2026-11-21T15:08:20Z",
        columns=["unique_id", "message_id", "topic", "queue_id", "queue_offset", "store_timestamp", "keys"],
        limit=200,
    )
    MESSAGE = next((row["unique_id"] or row["message_id"] for row in some), None)
    display(some.piece(shown=5))  # noqa: F821
print(MESSAGE)

# %% [markdown]
# ## The story
# In order of time, as a picture and in words. Hatched is what is not certain: only a window or a possibility is known.

# %%
STORE.journey(MESSAGE, logs=LOGS, offsets=OFFSETS)

# %% [markdown]
# ## Its bytes
# The record in the CommitLog, field by field. The log is read for it, so this also finds what no index has.

# %%
record = STORE.messages(where=f"unique_id = '{MESSAGE}' OR message_id = '{MESSAGE}'")
at = record["physical_offset"][0]
files = {int(file.name): file for file in (STORE.path / "commitlog").iterdir() if file.name.isdigit()}
base = max(first for first in files if first <= at)
rl.explain(files[base], at - base).piece(["file_pos", "length", "hex", "field", "value", "meaning"], shown=40)

# %% [markdown]
# ## Who had its queue, from beginning to end?

# %%
if LOGS:
    intervals = rl.replay(LOGS).intervals()
    topic, queue_id = record["topic"][0], record["queue_id"][0]
    owners = rl.sql(
        f"""
        SELECT "group", topic, queue_id, client_id, begin_earliest, begin_latest, end_earliest, end_latest, cause
        FROM intervals WHERE topic = '{topic}' AND queue_id = {queue_id} ORDER BY begin_earliest
        """,
        intervals=intervals,
    )
    display(owners)  # noqa: F821
