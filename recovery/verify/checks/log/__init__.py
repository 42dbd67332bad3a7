"""The log by itself: its files, gaps, damage, CRCs, and where it begins.

In: columns of a scanned log. Out: findings, and what is lost to every other rule. It opens no queue and no index.
"""
