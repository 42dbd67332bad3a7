"""A judge that never runs out of cases: random stores, random damage, RocketMQ's own store classes beside us."""
