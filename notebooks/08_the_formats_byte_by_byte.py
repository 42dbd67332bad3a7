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
# # The formats, byte by byte
#
# A tour of the files of a store: **what is every byte?** Hex on the left, the field's name, its value, what it means.
# The readers run on the same declarations, and so do the pages in `docs/formats`.
#
# As it stands the notebook looks at the demo's store, of a real 5.3.3 broker.

# %% [markdown]
# ## Your own store
# Put its path here, or set `ROCKETLENS_STORE` before you start Jupyter.

# %%
import os

import rocketlens as rl

STORE = rl.store(os.environ.get("ROCKETLENS_STORE") or rl.bundled_store("5.3.3-clean"))
ROOT = STORE.path
FIELDS = ["file_pos", "length", "hex", "field", "value", "meaning"]
STORE

# %% [markdown]
# ## CommitLog: every message, one after another
# A record begins with its size and a magic code that says what it is. Its fields of fixed width, then body, topic and
# properties, each with its length before it. The first record of the first file:

# %%
regions = STORE.regions()
files = sorted(set(regions["file"]))
rl.explain(ROOT / files[0]).piece(FIELDS, shown=40) if files else None

# %% [markdown]
# What all bytes of the log are: records, the blank that ends a file, what was never written, damage.

# %%
rl.sql("SELECT kind, count(*) AS stretches, sum(length)::BIGINT AS bytes FROM regions GROUP BY ALL", regions=regions)

# %% [markdown]
# ## ConsumeQueue: where each message of a queue is
# Twenty bytes for each: where the record starts, how long it is, and the hash code of its tags, by which a broker
# filters without reading the record. Three units of a queue:

# %%
queues = sorted(path for path in (ROOT / "consumequeue").glob("*/*/*") if path.stat().st_size)
print(queues[0].relative_to(ROOT) if queues else "no ConsumeQueue files here")
rl.explain(queues[0], count=3).piece(FIELDS) if queues else None

# %% [markdown]
# ## Index: from a key to places in the log
# A header, a table of slots, and entries of twenty bytes. A key's hash says the slot, the slot the newest entry, and
# each entry the one before it. The header:

# %%
index = sorted(path for path in (ROOT / "index").glob("*") if path.stat().st_size)
rl.explain(index[0]).piece(FIELDS) if index else None

# %% [markdown]
# The header of each file as numbers, and the first entries:

# %%
STORE.index_entries(limit=5)

# %% [markdown]
# ## checkpoint: how far all was known to be on disk
# A page of times and offsets. A start after a crash begins to believe the log by these.

# %%
rl.explain(ROOT / "checkpoint").piece(FIELDS) if (ROOT / "checkpoint").is_file() else None

# %% [markdown]
# ## config: what the broker knows of topics and groups
# JSON, as fastjson writes it, each with the copy before it (`.bak`). The first lines of the offsets of the groups:

# %%
offsets = ROOT / "config" / "consumerOffset.json"
rl.explain(offsets, count=None).piece(FIELDS, shown=6) if offsets.is_file() else None

# %% [markdown]
# ## Timer wheel and timer log: messages for a later time
# A slot for each second says where the newest timer of that second is in the timer log; each timer leads to the one
# before it.

# %%
timers = ROOT / "timerwheel"
rl.explain(timers, count=3).piece(FIELDS) if timers.is_file() else None

# %%
timer_logs = sorted(path for path in (ROOT / "timerlog").glob("*") if path.stat().st_size)
rl.explain(timer_logs[0]).piece(FIELDS) if timer_logs else None
