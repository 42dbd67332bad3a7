"""From facts to consumer processes: which connections and log runs are one process, from when to when it lived.

In: facts. Out: processes with what each proved to hold. It knows no queue table and no owner.
"""
