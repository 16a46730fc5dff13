"""Measures the constants of this machine that predictions use.

Writes the file that `planning.machine` reads.
"""
