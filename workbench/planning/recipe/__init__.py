"""The automatic recipe: it tries steps, judges them and keeps the best.

Knows transforms and predicted cost. Measures nothing.
"""
