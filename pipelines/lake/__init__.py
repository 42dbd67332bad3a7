"""The lake: tables, their Delta files, the catalogue, and the configuration that names it all.

In: rocketlens.toml. Out: tables to read and append to. It reads no store file.
"""
