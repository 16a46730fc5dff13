"""Linear algebra on inner axes: equations and factors of square matrices.

Knows `tracing`.
"""
