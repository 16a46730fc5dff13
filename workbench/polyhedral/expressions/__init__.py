"""Expressions in parts: their atoms, their text, their values, and the arithmetic that they refuse.

Makes no expressions: `polyhedral/expression.py` does.
"""
