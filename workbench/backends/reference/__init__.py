"""The one meaning of equations: an evaluator, instance by instance, without a schedule.

Slow and simple. Shares nothing with the array backends but the table of operations.
"""
