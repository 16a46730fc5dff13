"""Writes the protocol's TypeScript types to standard output."""

from workbench.session.protocol.typescript import typescript

print(typescript(), end="")
