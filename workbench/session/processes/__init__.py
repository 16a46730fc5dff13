"""The child processes, worker, meter and profiler, their clients, and the pipe between.

The worker computes parts, the meter measures, the profiler profiles. Knows no view.
"""
