"""The rules that every program keeps to: shapes, dtypes, definitions, ranges of indices.

Raises `ProgramError` at the user's line. Changes nothing.
"""
