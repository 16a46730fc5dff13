"""Steps that change where arrays are stored and for how long.

A file each. Equations and order stay as they are.
"""
