"""The language for writing programs: dims, distributions, networks, optimizers, gradients.

These modules are written as a user writes, on top of `tracing`. Does not know how values become a
program (`template` does). The derivative of an operation is in its row in `program.operations`.
"""
