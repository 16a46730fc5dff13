"""What to do with a program: the automatic recipe."""
