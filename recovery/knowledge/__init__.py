"""What is known of a store: its version and settings, given by the user or inferred from its files.

In: files and the user's words. Out: one `StoreKnowledge`. It judges nothing.
"""
