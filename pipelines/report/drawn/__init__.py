"""What sections are drawn with: figures, and pictures as SVG.

In: values. Out: pieces of a page. It knows no section.
"""
