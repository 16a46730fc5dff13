"""Gradients in reverse mode: the equations of adjoints, and index maps turned round.

The derivative of an operation is in its row in `program.operations`.
"""
