"""What every command shares: options, one call, output in each format, errors as sentences.

In: arguments. Out: rows on a stream, exit codes. It knows no command.
"""
