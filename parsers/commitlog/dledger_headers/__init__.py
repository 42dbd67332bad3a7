"""DLedger's headers: what stands before each record of a log in DLedger mode, and how one follows another.

In: bytes of entries. Out: which headers are right. It decodes no message.
"""
