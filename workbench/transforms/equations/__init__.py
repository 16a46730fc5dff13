"""Steps that change equations and keep their meaning.

A file each, besides copies of statements and inlining of one into another.
"""
