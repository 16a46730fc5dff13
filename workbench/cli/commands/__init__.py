"""The commands of `workbench`, a file each: options and output.

Code shared by commands is in the folder above.
"""
