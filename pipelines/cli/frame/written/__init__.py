"""How answers are written: rows and documents in each format.

In: batches, documents, output options. Out: bytes on a stream. It knows no store.
"""
