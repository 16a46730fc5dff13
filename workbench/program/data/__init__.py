"""Data sets as a program declares them: columns of rows from outside, their dtypes and bounds. No
row is here.
"""
