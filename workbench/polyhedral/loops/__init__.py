"""Schedule trees as loops: what isl generates from a tree, and when an instance runs in it.

Knows trees and sets. Does not ask whether an order is legal.
"""
