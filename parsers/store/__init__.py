"""A store folder: which file is what, how files follow one another, and whether one has changed.

In: a folder. Out: files in offset order, by names, sizes and times. It reads no record.
"""
