"""The parts of a running broker, in memory: MappedFileQueue, ConsumeQueue, IndexService, message checks.

In: names, sizes and bytes of files. Out: their state after load and recovery. It knows one part at a time.
"""
