"""Lowering: a program with its schedule becomes a loop program with explicit memory.

`lower` is the pipeline; the rooms are its stages. Knows array operations and memory, no backend.
"""
