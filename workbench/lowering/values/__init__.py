"""The values that operations work on: layouts, bounds of indices, names in scope, stored arrays.

Knows loops and sets. Does not know operations.
"""
