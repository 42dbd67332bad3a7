"""Intrinsics: what the compiler puts in place of a call, in LLVM's words.

In: the types and values of a call. Out: LLVM's instructions. They are imported where a compiler is, and nowhere else.
"""
