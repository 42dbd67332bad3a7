"""The lake: made, brought up to date, asked, looked at and cared for.

In: options, `rocketlens.toml`. Out: tables, pages, windows. No table is declared here.
"""
