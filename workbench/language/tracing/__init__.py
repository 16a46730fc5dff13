"""What happens while a user's function runs: tensors and what is done with them are recorded.

One circle of modules, since tensors and operators need each other. Does not know what becomes of
the trace.
"""
