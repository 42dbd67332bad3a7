"""Dagster: assets, checks, sensors, schedules, jobs.

In: a configuration. Out: materialised tables. What it computes is called, never written here.
"""
