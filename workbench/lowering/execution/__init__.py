"""A program's execution at given sizes: the instances that run at once, one event after the other,
and the slots of memory that each reads and writes. Evaluates nothing.
"""
