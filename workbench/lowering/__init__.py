"""From a program with its schedule to a loop program of array operations with explicit memory.

`lower` is the pipeline; the rooms are its stages. Knows array operations and memory, no backend.
"""
