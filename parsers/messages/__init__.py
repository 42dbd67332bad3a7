"""Messages that brokers and clients write for themselves: acks, op messages, traces, held messages.

In: topic, tags, properties and body of a message. Out: records of named values, with the bytes they stand in. It joins
no message with another.
"""
