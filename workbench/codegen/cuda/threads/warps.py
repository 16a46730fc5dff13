"""Warps: threads that a GPU runs in step."""

WARP = 32
"""The threads of a warp, which a barrier of warps waits for."""
NUMBER = "number of the warp"
"""The name of a warp's number in its block. No record has one, and text calls it `warp`."""
