"""ConsumeQueue files: which message is where, 20 bytes each."""
