"""Companions of a run: checkpoints, learning curves, progress.

Knows results. Does not time them.
"""
