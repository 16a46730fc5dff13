"""What kernels are given when they run, and how they end early, as header files. It knows the
run-time; it does not know what a kernel computes.
"""
