"""Kernels as pure values and text: what a statement's instances do, element by element, and how
that is written in C. It knows statements, storage and loops; it compiles and runs nothing.
"""
