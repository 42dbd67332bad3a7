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
# # What if?
#
# **What if the group had shared out its queues by another strategy, with more clients, with more queues? What if this
# broker were started as another version, or with other settings?** Both are played: the first on the memberships that
# the record shows, the second on the bytes on the disk. Nothing is changed.
#
# As it stands the notebook looks at what comes with rocketlens: a recorded cluster, and a crashed store.

# %% [markdown]
# ## Your own cluster, your own store
# Here, or by `ROCKETLENS_LOGS` (several places with `:` between them) and `ROCKETLENS_STORE` before you start Jupyter.

# %%
import os

import rocketlens as rl

LOGS = os.environ.get("ROCKETLENS_LOGS")
RECORDINGS = LOGS.split(os.pathsep) if LOGS else [rl.bundle("orders-cluster")]
STORE = os.environ.get("ROCKETLENS_STORE") or rl.bundled_store("5.3.1-crashed")
STRATEGIES = ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"]
MORE_CLIENTS = [0, 1, 2, 4]
MORE_QUEUES = [0, 4, 8]
VERSIONS = ["4.9.8", "5.3.1", "5.3.3", "5.5.1"]
SETTINGS = [{}, {"checkCRCOnRecover": False}]

# %% [markdown]
# ## Another strategy
# How many queues would have changed hands, and how unequal the shares would have been at worst.

# %%
history = rl.replay(RECORDINGS)
history.what_if(STRATEGIES)

# %% [markdown]
# ## More clients
# The same memberships with so many clients more. More clients than queues leave some without any.

# %%
played = [
    {"more_clients": more, **row}
    for more in MORE_CLIENTS
    for row in history.what_if(STRATEGIES, more_clients=more).rows
]
rl.show(rl.plots.grid_of(played, "more_clients", "strategy", "moved_queues", "queues that change hands"))

# %%
rl.show(rl.plots.grid_of(played, "more_clients", "strategy", "widest_gap", "widest gap between two shares"))

# %% [markdown]
# ## More queues

# %%
played = [
    {"more_queues": more, **row} for more in MORE_QUEUES for row in history.what_if(STRATEGIES, more_queues=more).rows
]
rl.show(rl.plots.grid_of(played, "more_queues", "strategy", "moved_queues", "queues that change hands"))

# %% [markdown]
# ## Another version, other settings
# The same files, started by each version with each of the settings: messages that would be lost. What loses nothing in
# one row and something in another is worth reading: `rl.store(STORE, version, settings).forecast()` says why.

# %%
starts = [
    {
        "version": version,
        "settings": ", ".join(f"{name}={value}" for name, value in settings.items()) or "as the files show",
        "lost": told["lost_counts"]["message"] if told["losses_are_known"] else None,
        "starts": told["load"]["ok"],
    }
    for version in VERSIONS
    for settings in SETTINGS
    for told in [rl.store(STORE, version, settings).forecast()]
]
rl.show(rl.plots.grid_of(starts, "settings", "version", "lost", "messages lost by a start"))
