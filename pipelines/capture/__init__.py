"""Captures of a broker's traffic, as the wire records that `rebalance.wire` reads."""
