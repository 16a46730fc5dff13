"""What only a GPU can tell: `make gpu`. Not collected by pytest: CI has none."""
