"""Reads as array operations: a slice where an index is one axis, else index arrays.

Knows layouts and stored arrays. Does not know which operation reads.
"""
