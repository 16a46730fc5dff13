"""Codegen: kernels as pure values and text, up to the C of whole programs.

It knows statements, storage and loops, and the run-time that generated C includes. It does not know
compilers, processes or files: who compiles and runs the text is a backend.
"""
