"""One record, field by field: its layout, hosts, ids, properties, CRCs and body, read and written.

In: the bytes of a record. Out: a message, and back. It is the reference for the compiled decoder.
"""
