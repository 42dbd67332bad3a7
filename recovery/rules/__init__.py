"""The broker's rules as declarations: versions, settings, places of files, what dispatch makes of a record.

In: nothing. Out: rules. It opens no store.
"""
