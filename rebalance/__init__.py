"""Who owns which queue: from facts to ownership and its explanation. Standard library only: no clock, file or logger.

Chapters, in the order of the data: `model`, `facts`, `readers`, `strategies`, `processes`, `holes`, `tenures`,
`ownership`, `diagnosis`. The doors are `replay` and `what_if`.
"""
