"""The log of a broker in DLedger mode (enableDLegerCommitLog, since 4.5.0): entries that each wrap one message."""
