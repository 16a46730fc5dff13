"""How long elements are needed, and so how little memory an array can do with.

Windows, folding, arrays that share memory. Knows order and accesses, and not how arrays are
allocated.
"""
