"""A program as values: statements, arrays, domains, reads, schedule, storage.

Knows polyhedral values. Does not know how a program was written, is lowered or runs.
"""
