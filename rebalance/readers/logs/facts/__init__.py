"""What recognised entries state, by who wrote them: brokers, Java clients, Go clients.

In: recognised entries. Out: facts. It reads no line.
"""
