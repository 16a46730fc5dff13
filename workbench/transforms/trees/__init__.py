"""Edits of schedule trees that several steps share: distribute, join, insert, find regions.

Returns trees. Whether they are legal is for the step to ask.
"""
