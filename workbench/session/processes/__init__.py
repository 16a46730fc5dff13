"""The child processes, workers, meter and profiler, their clients, and the pipe between.

The workers compute parts, the meter measures, the profiler profiles. Knows no view.
"""
