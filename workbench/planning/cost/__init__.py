"""Seconds and bytes of a run, predicted from counts of array calls and of Python's work.

Knows loop programs and a machine's constants. Does not know steps.
"""
