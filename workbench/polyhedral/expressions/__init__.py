"""What an expression is made of, prints as, is computed by and refuses.

Knows how expressions are built up, and makes none: `polyhedral/expression.py` does.
"""
