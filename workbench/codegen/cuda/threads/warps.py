"""Warps: threads that a GPU runs in step."""

WARP = 32
"""The threads of a warp, which a barrier of warps waits for."""
