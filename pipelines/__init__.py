"""The platform: tables, jobs, answers, report, notebooks, Dagster, the command line.

In: stores, recordings, `rocketlens.toml`. Out: what people look at. No rule of RocketMQ stands here.
"""
