"""What every byte of a store file is, in words.

In: a file and a place in it. Out: lines of hex beside field names. It decides nothing about damage.
"""
