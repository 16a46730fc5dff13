"""The decorator, and the program that comes out of a trace: names, statements, root schedule.

Knows `tracing` and `program`. Does not know transforms.
"""
