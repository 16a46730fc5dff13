"""The table of operations: arity, shape, dtype, meaning, gradient and text of each.

Knows NumPy. Does not know statements, nor how an operation is lowered or what it costs.
"""
