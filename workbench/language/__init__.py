"""What users call to write a program: dims, distributions, networks, optimizers, gradients.

These modules are written as a user writes, on top of `tracing`. How the values become a program is
known in `template`. The derivative of an operation is in its row in `program.operations`.
"""
