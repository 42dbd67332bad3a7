"""A lake under faults: killed, interrupted, full and contended ingests end with the tables of an undisturbed one."""
