"""The first law: a variant computes what the equations mean, within the tolerance of the dtype.

Compares with the reference at check sizes. Does not time anything.
"""
