"""The CommitLog: all messages of all topics of a broker, one record after another."""
