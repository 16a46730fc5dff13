"""The memory of kernels on a GPU: where everything is, and what of it each touches."""
