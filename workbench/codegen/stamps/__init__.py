"""Kernels with stamps between their records, and the work of each statement in them. It knows how
records are divided, not how long they take.
"""
