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
# # The three files against each other
#
# A message is in the **CommitLog**. A unit of a **ConsumeQueue** says where, so that consumers get it; entries of an
# **index file** say where, so that a query by key finds it. **Do the three agree, what does it mean where they do not,
# and which one is right?** The log is what the other two are made from, so it is right unless it is damaged itself.
#
# As it stands the notebook looks at a small store that comes with rocketlens: RocketMQ 5.3.1, killed while it was
# writing; then one bit of one message body went bad on the disk.

# %% [markdown]
# ## Your own store
# Put its path here, or set `ROCKETLENS_STORE` and `ROCKETLENS_VERSION` before you start Jupyter.

# %%
import os

import rocketlens as rl

YOURS = os.environ.get("ROCKETLENS_STORE")
STORE = YOURS or rl.bundled_store("5.3.1-crashed")
VERSION = os.environ.get("ROCKETLENS_VERSION") if YOURS else "5.3.1"

store = rl.store(STORE, VERSION)
store

# %% [markdown]
# ## Where do they disagree?
# A row is a finding, worst first; no rows: the files agree. `place`, `begin` and `end` are the bytes it is about.

# %%
findings = store.verify()
findings.piece(["severity", "kind", "place", "begin", "end"])

# %% [markdown]
# What each of them means, what a broker would do with it, and which side to believe:

# %%
rl.sql(
    """
    SELECT kind, document->>'$.why' AS what_it_means, document->>'$.broker_would' AS a_broker_would,
           document->>'$.right' AS the_right_side
    FROM findings
    """,
    findings=findings,
)

# %% [markdown]
# ## One message in all three
# The last unit of a queue, the record that it points to, and the entries of the index that point there, too.

# %%
units = store.units()
entries = store.index_entries()
records = store.messages(columns=["physical_offset", "total_size", "topic", "queue_id", "queue_offset", "tags", "keys"])
print(f"{len(records):,} records, {len(units):,} units, {len(entries):,} index entries")

# %%
rl.sql(
    """
    SELECT r.physical_offset, r.total_size, u.msg_size AS size_in_queue, r.topic, r.queue_id, r.queue_offset, r.keys,
           count(e.entry_no) AS index_entries
    FROM records r
    LEFT JOIN units u USING (physical_offset)
    LEFT JOIN entries e USING (physical_offset)
    WHERE r.keys IS NOT NULL AND u.msg_size IS NOT NULL
    GROUP BY ALL ORDER BY r.physical_offset DESC LIMIT 5
    """,
    records=records,
    units=units,
    entries=entries,
)

# %% [markdown]
# ## What is in one of them and not in another?
# What was written last may not have been dispatched yet; the broker makes up for that when it starts. Half messages of
# transactions and delayed messages are in queues of system topics.

# %%
apart = rl.sql(
    """
    SELECT 'a record without a unit' AS what, count(*) AS how_many, min(physical_offset) AS first_physical_offset,
           max(physical_offset) AS last_physical_offset
    FROM records ANTI JOIN units USING (physical_offset)
    UNION ALL BY NAME
    SELECT 'a unit without a readable record' AS what, count(*) AS how_many,
           min(physical_offset) AS first_physical_offset, max(physical_offset) AS last_physical_offset
    FROM units ANTI JOIN records USING (physical_offset) WHERE units.kind = 'unit'
    UNION ALL BY NAME
    SELECT 'an index entry without a readable record' AS what, count(*) AS how_many,
           min(physical_offset) AS first_physical_offset, max(physical_offset) AS last_physical_offset
    FROM entries ANTI JOIN records USING (physical_offset)
    """,
    records=records,
    units=units,
    entries=entries,
)
apart

# %% [markdown]
# ## And the bytes?
# The record behind the worst finding that has a place in the log, field by field.

# %%
places = [row for row in findings if row["place"].startswith("commitlog/") and row["begin"] is not None]
for worst in places[:1]:
    FIELDS = ["file_pos", "length", "hex", "field", "value", "meaning"]
    display(rl.explain(store.path / worst["place"], worst["begin"]).piece(FIELDS, shown=40))  # noqa: F821
if not places:
    print("No finding is about bytes of the log.")
