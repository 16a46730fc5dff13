"""The rows of data sets: where they come from, whether they fit what a program declares, how many
of them a run reads, what tells their content apart.

What a program says of them is in `program/data`; nothing here runs a program.
"""
