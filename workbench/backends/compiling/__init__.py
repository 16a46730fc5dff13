"""Common parts of backends that compile kernels: files of kernels and of what was compiled, checks
before a run. It compiles nothing.
"""
