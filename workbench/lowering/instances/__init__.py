"""One statement's instance, or a vector of them, as array operations.

Reads, writes, draws, contractions and reductions become records. Their memory is placed in
`memory`.
"""
