"""What a run will cost, and the recipe that is chosen by it.

Knows transforms and loop programs. Runs nothing.
"""
