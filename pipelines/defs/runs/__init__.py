"""What runs, and when: jobs, schedules, sensors, the alert, and everything in one process.

In: assets and checks by name. Out: runs, and the events that Dagster gets of an ingest. They compute nothing.
"""
