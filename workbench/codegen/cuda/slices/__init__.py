"""Arrays in host memory on a GPU: kernels work on slices of them that its own memory holds."""
