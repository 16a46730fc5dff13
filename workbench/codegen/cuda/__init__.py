"""Kernels as CUDA text: the records of compiled C, shared out to the threads of a block.

It knows no GPU and no driver: `backends/cuda` compiles and launches what is written here.
"""
