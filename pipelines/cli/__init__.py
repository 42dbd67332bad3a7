"""The command line: typer commands that call the engines and write rows.

In: arguments. Out: rows on a stream, notes, exit codes. No rule of RocketMQ stands here.
"""
