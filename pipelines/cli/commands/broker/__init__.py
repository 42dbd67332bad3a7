"""What the broker would do with its files: verify, rebuild, forecast, retention, replicas.

In: options. Out: rows, documents, and what to do in words. They change no evidence.
"""
