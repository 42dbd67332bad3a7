"""Every text of RocketMQ's logs that is recognised, declared as its writer has it.

In: nothing. Out: one table of templates, and its page of the documentation. It makes no fact.
"""
