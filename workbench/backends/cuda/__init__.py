"""NVIDIA GPUs: programs on CuPy, and kernels that NVRTC compiles, which needs no GPU."""
