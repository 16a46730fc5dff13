"""Edits of schedule trees that several steps share: distribute, join, insert, axes; and the regions
and sites where they are made.

Returns trees. Their legality is for the step to check.
"""
