"""The two child processes, worker and meter, their clients, and the pipe between.

The worker computes parts, the meter measures. Knows no view.
"""
