"""Workbenches as they are sent to the views, small and the same every time.

The tests in TypeScript read them from tests/golden/session. Their programs have files of their own,
so that the lines that they name move only with the program.
"""
