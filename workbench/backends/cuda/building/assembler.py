"""What the assembler tells of kernels: registers, what of them is spilled, bytes of the stack."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TOLD = re.compile(
    r"Compiling entry function '(?P<name>\w+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<spilled>\d+) bytes spill stores, .*?"
    r"Used (?P<registers>\d+) registers",
    re.DOTALL,
)


@dataclass(frozen=True)
class Registers:
    """The registers of a kernel's thread, the bytes of them that are spilled, and of the stack."""

    registers: int
    spilled: int
    stack_bytes: int


def registers_of(log: str) -> Mapping[str, Registers]:
    """Return what a compiler's log tells of each kernel by name."""
    told = {}
    for part in re.split(r"(?=Compiling entry function)", log):
        found = _TOLD.search(part)  # of others than kernels there is no word of registers
        if found:
            numbers = (int(found[name]) for name in ("registers", "spilled", "stack"))
            told[found["name"]] = Registers(*numbers)
    return told


def spilling(log: str) -> Mapping[str, int]:
    """Return the bytes that are spilled, of each kernel that spills any."""
    return {name: one.spilled for name, one in registers_of(log).items() if one.spilled}
