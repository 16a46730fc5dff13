"""Records of a block that the tests of slices are made of: a loop of nine turns over lanes."""

from __future__ import annotations

from workbench.codegen.kernel_records import KernelRecord, Let, Load, Local, Loop, Store
from workbench.polyhedral.expression import Expression, expression, minimum, variable

LANES = 16 * variable("block"), minimum(16 * variable("block") + 16, variable("n"))
T, B = variable("t"), variable("lane")
MEMORY = {"x": "x", "y": "x", "z": "z"}


def place(turn: Expression, stride: int = 1, offset: int = 0) -> Expression:
    return 640 * turn + stride * B + offset


def over_lanes(*records: KernelRecord) -> Loop:
    return Loop("lane", *LANES, records, lanes=True)


def turns(*records: KernelRecord, backwards: bool = False) -> Loop:
    return Loop("t", expression(0), expression(9), records, backwards=backwards)


def load(at: Expression, buffer: str = "x") -> Let:
    return Let(f"local {at}", Load(buffer, at, "float"))


def store(at: Expression, buffer: str = "x") -> Store:
    return Store(buffer, at, Local("new", "float"))
