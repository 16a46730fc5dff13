"""The data that the browser gets of a program, and the shells that show it."""
