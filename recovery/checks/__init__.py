"""The rules by which log, queues, index, checkpoint and configuration must agree: columns in, findings out."""
