"""Spark: data sources over store files, the writer into Delta, and the session they run in."""
