"""Blocks of a dimension in any order: what can run in them, where, what a block keeps, and why not
more does.
"""
