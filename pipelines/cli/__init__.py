"""The command line: typer commands that call the engines and write rows. No rule of RocketMQ lives here."""
