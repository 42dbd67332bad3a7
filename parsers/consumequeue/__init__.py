"""ConsumeQueue files: which message is where, 20 bytes each; 46 in a BatchCQ; ext units beside them.

In: the files of one queue. Out: units and a summary. They are not compared with the log.
"""
