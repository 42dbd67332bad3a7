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
# # Who owned which queue?
#
# Consumers of a group share out the queues among themselves; every join, stop or crash moves some. **Who had which
# queue when, how sure is that, what went wrong, and which messages may have been consumed twice?** The answer is
# replayed from what the cluster left behind: broker logs, client logs, captures of the traffic. What the record does
# not settle stays open, and is drawn that way.
#
# As it stands the notebook looks at a recorded cluster that comes with rocketlens: RocketMQ 5.3.3, one broker, eight
# queues; consumers join, stop, are killed and come back.

# %% [markdown]
# ## Your own cluster
# Name folders or files with logs and captures here, or set `ROCKETLENS_LOGS` before you start Jupyter (several places
# with `:` between them), and the broker's store in `ROCKETLENS_STORE` if you have it: it tells how many messages lie in
# a range.

# %%
import os

import rocketlens as rl

YOURS = os.environ.get("ROCKETLENS_LOGS")
RECORDINGS = YOURS.split(os.pathsep) if YOURS else [rl.bundle("orders-cluster")]
STORE = os.environ.get("ROCKETLENS_STORE") if YOURS else rl.bundled_store("orders-cluster")
if not YOURS and os.environ.get("ROCKETLENS_STORE"):
    raise rl.RocketlensError("ROCKETLENS_STORE is set and ROCKETLENS_LOGS is not: who owned a queue is read from logs")

# %% [markdown]
# ## What is there to read?

# %%
cluster = rl.replay(RECORDINGS)
cluster.sources()

# %% [markdown]
# ## Who owned which queue, when?
# A row is a queue, a colour an owner. Full colour: certain. Hatched: it may have been the owner's then; each interval
# has an earliest and a latest begin and end. Point at a block to see why it began.

# %%
cluster

# %% [markdown]
# ## What happened to the cluster?
# The events behind the hand-overs, as the record shows them. Each happened between the two times.

# %%
cluster.incidents()

# %% [markdown]
# ## How much time was lost by it?
# Sums over the queues of a topic. *Imbalance* is the mean over time of the largest minus the smallest number of queues
# that a client held.

# %%
cluster.metrics()

# %% [markdown]
# ## Which messages may have been consumed twice?
# At a hand-over the new owner begins at the last committed offset, and the old one may have been further on already.
# Every duplicate lies in one of these ranges; most messages in them were consumed once.

# %%
cluster.exposed(STORE)

# %% [markdown]
# ## Would another strategy have been better?
# The same memberships, shared out by each strategy: how many queues would have changed hands?

# %%
cluster.what_if(["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"])

# %% [markdown]
# And with one more client in the group:

# %%
cluster.what_if(["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"], more_clients=1)

# %% [markdown]
# ## Who owned what at one moment?
# In the middle of the record; any instant in epoch milliseconds will do. `rocketlens replay … --at` answers the same.

# %%
cluster.at(cluster.middle)

# %% [markdown]
# ## Why are some answers not sharper?

# %%
cluster.notes()
