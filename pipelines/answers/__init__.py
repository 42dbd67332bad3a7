"""Answers of the engines as rows of tables and steps of stories.

In: opened stores, replays, tables. Out: batches. It knows neither Spark nor a screen.
"""
