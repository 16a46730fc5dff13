"""Answers what views ask, and follows what the notebook's cells do.

Requests of every view come here, and change the workbenches in `state`. Knows no Jupyter.
"""
