"""ConsumeQueue and IndexFile from the CommitLog alone, byte for byte as dispatch writes them.

In: a scanned log. Out: new files in a new folder. It never writes beside evidence.
"""
