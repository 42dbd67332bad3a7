"""What a broker would make of its store files: prove them, rebuild them, start them in memory.

In: opened stores. Out: rows, findings, forecasts, new files. It knows no table and no screen. Its chapters stand in the
order in which knowledge grows; each knows those before it only.
"""
