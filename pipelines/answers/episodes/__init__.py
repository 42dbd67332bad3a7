"""Episodes of lag: when a group fell behind, and what share of it each cause has; status words over a window.

In: rows of lag at instants, rows of ownership, lines of logs. Out: rows. `of_store` and `of_lake` read them; the rest
reads no file and no store.
"""
