"""What backends that compile kernels share: files of kernels and of what was compiled, and the
checks before a run. It compiles nothing.
"""
