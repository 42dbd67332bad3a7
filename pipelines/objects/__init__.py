"""Places of an object store (`s3://bucket/folder`, `az://…`) that are used as folders and files of this machine are.

In: an address and how its server is reached. Out: names, bytes, ranges of bytes, writes that appear whole or not at
all. It knows no table.
"""
