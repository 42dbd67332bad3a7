"""The assets, one for each table.

In: the configuration, files, tables. Out: tables filled anew. What they compute is called, never written here.
"""

import warnings

import dagster as dg

# Backfill policies and owners carry this remark on every load; the exact version is locked, and the tests use them.
warnings.filterwarnings("ignore", category=dg.BetaWarning, message=".*(backfill_policy|owners).*")
