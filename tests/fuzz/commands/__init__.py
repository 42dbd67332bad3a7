"""The fuzz over commands: mutated stores and recordings, every command, and what must hold whatever the bytes are."""
