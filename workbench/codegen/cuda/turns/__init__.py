"""Turns of loops in a block: what one of them hands on to others is in shared memory."""
