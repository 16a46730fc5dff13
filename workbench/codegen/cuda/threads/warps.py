"""Warps: threads that a GPU runs in step."""

WARP = 32
"""The threads of a warp, which a barrier of warps waits for."""
NUMBER = "warp"
"""The name of a warp's number in its block."""
