"""Captures of a broker's traffic, as the wire records that `rebalance.readers.wire.facts` reads."""
