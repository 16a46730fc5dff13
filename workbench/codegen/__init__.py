"""Codegen: the C of whole programs, as values and text.

It knows C, and the run-time that generated C includes. It does not know compilers, processes or
files: who compiles and runs the text is a backend.
"""
