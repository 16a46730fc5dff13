"""Data of the views besides the graph: a record and the function that computes it, a file each.

Runs in the worker process. Knows no session.
"""
