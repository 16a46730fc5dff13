"""Conditions of rules over equations, and what meets them."""

from __future__ import annotations

from dataclasses import dataclass

ADDED_UP = "a sum, a maximum or a minimum"
"""The condition of what can be combined in parts."""
COMBINED = {"sum": "a sum", "max": "a maximum", "min": "a minimum"}
"""The names of these."""


@dataclass(frozen=True)
class Condition:
    """A condition of a step's rule, and the sentence about a statement that meets it."""

    text: str
    met: str
    statement: str

    def __str__(self) -> str:
        return f"{self.text}: {self.met}"
