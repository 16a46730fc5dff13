"""What a view asks for besides the graph: a record and the function that makes it, a file each.

Runs in the worker process. Knows no session.
"""
