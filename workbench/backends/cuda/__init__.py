"""Programs as kernels on a GPU: compiled by NVRTC, launched by CuPy, an iteration as a graph."""
