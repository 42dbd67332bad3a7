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
# # If I start this broker now
#
# A broker died, its store directory is still there. Before anybody starts it: **what would the start do to these
# files, which messages would be gone afterwards, and is there a way to lose fewer?** The start is played in memory from
# the bytes on disk, by the rules of the version you name. No file is changed, nothing is copied.
#
# As it stands the notebook looks at a small store that comes with rocketlens: RocketMQ 5.3.1, killed while it was
# writing; then one bit of one message body went bad on the disk.

# %% [markdown]
# ## Your own store
# Put its path here, or set `ROCKETLENS_STORE` and `ROCKETLENS_VERSION` before you start Jupyter. Leave the version
# `None` if you do not know it: the answer then names the versions it holds for.

# %%
import json
import os

import rocketlens as rl

YOURS = os.environ.get("ROCKETLENS_STORE")
STORE = YOURS or rl.bundled_store("5.3.1-crashed")
VERSION = os.environ.get("ROCKETLENS_VERSION") if YOURS else "5.3.1"
CONFIG = {}  # what broker.conf says and the files do not show, e.g. {"flushDiskType": "SYNC_FLUSH"}

# %% [markdown]
# ## What the start would do

# %%
start = rl.store(STORE, VERSION, CONFIG).forecast()
start

# %% [markdown]
# ## The bytes at the break
# The log would end at the first record that the start does not believe. These are its bytes, field by field.

# %%
start.bytes_at_break()

# %% [markdown]
# ## Is there a better way?
# Every repair that might help is played the same way; those that end better are listed, the least destructive first.
# The first row is the start as it is. A row without numbers is done beside the store and changes no start.

# %%
start.ways()

# %% [markdown]
# ## What is lost, queue by queue

# %%
start.lost_by_queue()

# %% [markdown]
# ## What is lost, message by message
# Until the start these messages can be read: `rocketlens dump commitlog` shows them, from a copy of the log even later.

# %%
start.losses(shown=12)

# %% [markdown]
# ## The queues after the start

# %%
start.queues()

# %% [markdown]
# ## Was that right?
# For the store that comes with rocketlens this is known: the store classes of RocketMQ 5.3.1 were started on a copy of
# it, and what they did was written down.

# %%
if not YOURS:
    did = json.loads((rl.bundle("5.3.1-crashed") / "truth.json").read_text("utf-8"))
    ends = {(q["topic"], q["queue_id"]): q["max_queue_offset"] for q in start["after_dispatch"]["queues"]}
    assert start["commitlog"]["max_physical_offset"] == did["commitlog"]["max_physical_offset"]
    assert start["redispatched_messages"] == did["redispatched_messages"]
    assert ends == {(q["topic"], q["queue_id"]): q["max_queue_offset"] for q in did["queues"]}
    print(
        f"The broker did the same: the end of the log, {start['redispatched_messages']} messages, {len(ends)} queues."
    )

# %% [markdown]
# ## And if it runs on: what will retention delete?
# A started broker also cleans up: files older than `fileReservedTime` go at the hour `deleteWhen`, unread messages with
# them. Here for a store with consumer groups (the demo's own; yours, if you named one), seen from the moment its log
# was last written to. For the outlook from today leave `now` out.

# %%
kept = rl.store(STORE, VERSION, CONFIG) if YOURS else rl.store(rl.bundled_store("5.3.3-clean"), "5.3.3")
ahead = kept.retention(now=kept.last_written())
ahead.plot()

# %%
ahead
