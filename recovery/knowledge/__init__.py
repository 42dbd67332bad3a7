"""What is known of a store: its version and settings, said by its user or told by its files.

In: files and the user's words. Out: one `StoreKnowledge`. It judges nothing.
"""
