"""Why ownership changed, what went wrong with it, and what that touched.

In: the history of a group. Out: rows of intervals, assignments, divergence, anomalies, exposures. Nothing reads it but
the doors.
"""
