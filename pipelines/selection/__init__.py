"""Which messages of a log are wanted beyond what their fields say, and the forms in which they are handed on.

In: opened stores, batches of messages. Out: masks over batches, added columns. It reads no log and writes nothing.
"""
