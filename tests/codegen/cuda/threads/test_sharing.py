"""Records that all threads of a block run themselves: their values are needed behind them."""

from __future__ import annotations

import pytest

from workbench.codegen.cuda.threads.sharing import shared_out
from workbench.codegen.cuda.threads.thread_code import Around, Everywhere, First
from workbench.codegen.kernel_records import (
    KernelRecord,
    Local,
    Loop,
    Number,
    Store,
    Update,
    Variable,
    Where,
)
from workbench.polyhedral.conditions import AffineComparison
from workbench.polyhedral.expression import expression, size, variable

ONE = Number(1.0, "float")
CHANGED = Update("sum", ONE)


def lanes(value: KernelRecord) -> Loop:
    return Loop("n", expression(0), expression(40), (value,), lanes=True)


STORED = lanes(Store("x", variable("n"), ONE))
READ = lanes(Store("y", variable("n"), Local("sum", "float")))


@pytest.mark.parametrize(
    ("behind", "by_all"), [((READ,), True), ((STORED, READ), True), ((STORED,), False)]
)
def test_what_a_condition_changes_is_known_to_all_who_need_it_behind(
    behind: tuple[KernelRecord, ...], by_all: bool
) -> None:
    where = Where(AffineComparison(size("T"), "<=", expression(3)), (CHANGED, STORED))
    codes = shared_out((Variable("sum", ONE), where, *behind), 16, 128, set())
    (inside,) = (code.body for code in codes if isinstance(code, Around))
    assert inside[0] == (Everywhere((CHANGED,)) if by_all else First((CHANGED,)))
