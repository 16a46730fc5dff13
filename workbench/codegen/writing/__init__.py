"""Statements' instances as kernel records: their loops and reductions, and regions of several
statements. It does not know how records are printed.
"""
