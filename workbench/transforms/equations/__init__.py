"""Steps that change equations and keep what they mean.

A file each, and how statements are copied and put into each other.
"""
