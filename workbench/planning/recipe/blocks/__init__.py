"""Plans for compiled kernels: all that runs over an independent dimension in blocks."""
