"""Tracing: tensors and operations are recorded while a user's function runs.

One circle of modules, since tensors and operators need each other. Does not know how a trace
becomes a program.
"""
