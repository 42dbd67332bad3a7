"""The files of config/ as the ConfigManagers of each version load them.

In: the folder. Out: which file is used, what is missing, who stops the start. It proposes no repair.
"""
