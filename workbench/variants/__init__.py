"""Variants of a program: steps are applied, checked, undone and written down."""
