"""What recognised entries state, by who wrote them: brokers, and clients in Java, Go and C++.

In: recognised entries. Out: facts. It reads no line.
"""
