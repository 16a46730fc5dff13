"""Proposals of an order: our own, as the program is written, and isl's scheduler.

Returns schedule trees. Whether a changed tree is legal is asked in `dependences`.
"""
