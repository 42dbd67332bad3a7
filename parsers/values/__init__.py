"""Java's numbers and texts, versions, names of topics, instants: rules without bytes.

In: nothing. Out: functions over plain values, of the standard library alone. It knows no file.
"""
