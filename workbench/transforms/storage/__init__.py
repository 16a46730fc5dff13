"""Steps that change where arrays are stored and for how long.

A file each, besides what the device holds of an array on the host, and what it holds at its peak.
Equations and order stay as they are.
"""
