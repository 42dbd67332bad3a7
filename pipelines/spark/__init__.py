"""Spark: the session, data sources over store files, jobs over many brokers, the writer into Delta.

In: brokers of a configuration. Out: parts of tables. No rule of RocketMQ lives here.
"""
