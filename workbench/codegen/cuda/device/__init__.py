"""Header files of CUDA text: what a GPU's compiler lacks, and functions that a block runs together.

All but two understand a C compiler too, for which `machine.h` and `threads.h` are others.
"""
