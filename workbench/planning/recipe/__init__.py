"""The automatic recipe: which steps are tried, how they are judged, which are kept.

Knows transforms and predicted cost. Measures nothing.
"""
