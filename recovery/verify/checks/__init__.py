"""The rules: one file for each part of a store that can disagree with the log.

In: what is out of place. Out: findings. A check opens no file twice and knows no other check's state.
"""
