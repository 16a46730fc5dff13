"""The predicted cost of a run, and the recipe chosen by it.

Knows transforms and loop programs. Runs nothing.
"""
