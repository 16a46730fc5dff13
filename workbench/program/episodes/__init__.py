"""Episodes that end: what exists where a part of a body is evaluated, and how backends run
instances that are not executed.
"""
