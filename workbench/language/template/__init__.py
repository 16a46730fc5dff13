"""The decorator, and the step from a trace to a program: names, statements, root schedule.

Knows `tracing` and `program`. Does not know transforms.
"""
