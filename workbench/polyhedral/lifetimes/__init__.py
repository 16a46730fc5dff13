"""Lifetimes of elements, and the least memory that an array needs.

Holds windows, folding, and arrays that share memory. Knows order and accesses, not how arrays are
allocated.
"""
