"""Partial sums that a block has on chip while it goes through its blocks of the program."""
