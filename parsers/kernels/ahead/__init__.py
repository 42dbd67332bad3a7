"""Kernels compiled before anybody calls one, and linked into a library.

In: the texts of kernels and their annotations. Out: a shared library that needs no compiler. It runs before the program
does; it knows no file but sources.
"""
