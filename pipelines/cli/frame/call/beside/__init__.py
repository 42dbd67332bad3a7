"""What a command is given beside its stores: kept offsets, recordings, logs, and the moves of offsets that these tell.

In: paths and the run. Out: offsets, facts, events, notes on what could not be read. They open no store.
"""
