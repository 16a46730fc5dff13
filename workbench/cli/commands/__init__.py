"""The commands of `workbench`, a file each: its options and what it prints.

What commands share is in the folder above.
"""
