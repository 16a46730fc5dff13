"""Variants of a program: steps applied, checked, undone, written down."""
