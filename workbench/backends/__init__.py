"""Backends: the reference that fixes what a program means, and those that run variants of it."""
