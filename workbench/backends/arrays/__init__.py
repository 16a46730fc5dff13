"""Loop programs as Python source that calls array functions, compiled and run.

Knows one table of array functions for each library. Does not decide any order or memory.
"""
