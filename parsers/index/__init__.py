"""IndexFile: a hash table from message keys to CommitLog positions."""
