"""Header files of runs: what kernels are given, and how they end early. It knows the
run-time; it does not know what a kernel computes.
"""
