"""The only ways to files of evidence: maps that are read, holes and pages of them, and a guard against writing.

In: paths. Out: bytes. It knows neither stores nor formats.
"""
