"""The random key of a statement: one hash, shared by every backend and by well-formedness."""

from __future__ import annotations

import hashlib


def statement_key(origin: str) -> int:
    """Return a 32-bit hash of an origin: the first four bytes of its SHA-256, big-endian."""
    return int.from_bytes(hashlib.sha256(origin.encode()).digest()[:4], "big")
