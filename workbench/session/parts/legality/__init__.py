"""Explanations of steps: why one is refused, and why one is legal, each with its drawing."""
