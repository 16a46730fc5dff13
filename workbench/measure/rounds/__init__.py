"""Times and peaks of variants, measured in turn.

Rounds, confidence intervals, tables, and sizes that are soon over.
"""
