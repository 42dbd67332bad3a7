"""Compiled pieces that more than one reader is built from."""
