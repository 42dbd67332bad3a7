"""The databases in which a broker keeps its ConsumeQueues (since 5.2.0) and its tables (since 5.1.4)."""
