"""The workbenches that are open: variants, parts, measurements; saved files are read back here.

Every change makes a new immutable value under a lock. Knows no views, no Jupyter.
"""
