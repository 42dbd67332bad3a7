"""Every table, declared once: Arrow, Delta and Spark schema and documentation come from here.

In: nothing. Out: declarations. It holds no rows.
"""
