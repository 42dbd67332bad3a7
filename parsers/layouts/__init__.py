"""How values are written, declared once: fixed-width fields, lines of text, JSON as fastjson has it, instants, columns.

In: declarations and bytes. Out: values and columns, or a typed error. It knows no kind of file.
"""
