"""The rules: one file per thing that can disagree.

In: what is out of place. Out: findings. A check opens no file twice and knows no other check's state.
"""
