"""A whole program as C: a function for each kernel, the loops that launch them, and the units in
which they are compiled.
"""
