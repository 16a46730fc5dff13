"""Edits of schedule trees that several steps share: distribute, join, insert, find regions.

Returns trees. Their legality is for the step to check.
"""
