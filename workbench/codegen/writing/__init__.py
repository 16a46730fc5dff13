"""Statements' instances as kernel records: their loops, the values of their bodies, the places of
their elements. It does not know how records are printed.
"""
