"""Spark data sources over store files, siblings under one contract: plan slices, read batches.

In: paths. Out: Arrow batches in the shape Spark asked for. They write nothing.
"""
