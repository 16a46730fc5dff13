"""What the browser is told of a program, and the shells that show it."""
