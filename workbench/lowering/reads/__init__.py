"""A read as an array operation: a slice where an index is one axis, index arrays where it is not.

Knows layouts and stored arrays. Does not know which operation reads.
"""
