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
# # One night, one page
#
# Something happened at night. **How far behind was the group and when, who owned the queues, who came and went, what
# went wrong, what do the logs have, what is wrong in the files?** All of it on one time axis, and in a sentence who was
# furthest behind and what had happened before.
#
# As it stands the notebook looks at a recorded cluster that comes with rocketlens: a consumer is killed and comes back.

# %% [markdown]
# ## Your own night
# Here, or by variables set before you start Jupyter: logs and captures in `ROCKETLENS_LOGS` (several places with `:`
# between them), the broker's store in `ROCKETLENS_STORE`, and in `ROCKETLENS_OFFSETS` copies of its
# `consumerOffset.json` that were kept during the night; without them lag is that of the store's own offsets.

# %%
import os

import rocketlens as rl

YOURS = os.environ.get("ROCKETLENS_LOGS")
RECORDINGS = YOURS.split(os.pathsep) if YOURS else [rl.bundle("orders-cluster")]
PATH = os.environ.get("ROCKETLENS_STORE") if YOURS else rl.bundled_store("orders-cluster")
OFFSETS = os.environ.get("ROCKETLENS_OFFSETS") if YOURS else rl.bundle("orders-cluster") / "offsets"
if not YOURS and (os.environ.get("ROCKETLENS_STORE") or os.environ.get("ROCKETLENS_OFFSETS")):
    raise rl.RocketlensError("ROCKETLENS_LOGS is not set: the page of a night is made from its logs or captures")

# %% [markdown]
# ## The page
# Point at a block to see what it is; drag over a stretch of time to look closer, double-click for all of it.

# %%
history = rl.replay(RECORDINGS)
history.night(rl.store(PATH) if PATH else None, OFFSETS)

# %% [markdown]
# ## What to ask next
# `history.at("2026-11-21T15:08:30Z")` tells who owned each queue at one moment; `history.exposed(store)` which messages
# may have been consumed twice; notebook 06 the story of one message of the night.

# %%
history.notes()
