"""Writes the types of what passes to the views, in TypeScript, to standard output."""

from workbench.session.protocol.typescript import typescript

print(typescript(), end="")
