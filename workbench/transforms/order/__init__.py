"""Steps that change the order in which instances run, or which loops become array axes.

A file each. Equations and storage stay as they are.
"""
