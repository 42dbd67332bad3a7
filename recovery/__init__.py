"""What a broker would make of its store files: prove them, rebuild them, start them in memory.

Its chapters stand in the order in which knowledge grows; each knows those before it only.
"""
