"""One statement's instance, or a vector of them, as array operations.

Reads, writes, draws, contractions and reductions become records. Where their memory comes from is
decided in `allocation`.
"""
