"""The first law: a variant computes what the equations mean, within the tolerance of the dtype.

Compares with the reference at check sizes, in blocks of 3 where the variant has larger ones, and in
its own blocks with NumPy's run of the program as written. Does not time anything.
"""
