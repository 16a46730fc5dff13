"""Times and peaks of variants, measured in turn, each in a process of its own.

Rounds, confidence intervals, tables, and sizes that are soon over.
"""
