"""The work of compiled kernels, and what it takes on a processor or a GPU."""
