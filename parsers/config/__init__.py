"""The broker's config/*.json: topics, groups, offsets, as fastjson writes them.

In: JSON files or their databases. Out: tables, and what is unreadable. It does not say which file a broker takes.
"""
