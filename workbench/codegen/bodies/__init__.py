"""The values of statements' bodies at positions of their inner shapes, and the places of elements.
It knows nothing of the loops around a statement.
"""
