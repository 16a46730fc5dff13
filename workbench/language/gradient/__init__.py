"""Gradients in reverse mode: the equations of derivatives, and index maps turned round.

The derivative of an operation is in its row in `program.operations`.
"""
