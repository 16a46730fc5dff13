"""Units: which statement a line is of, which headers a text needs."""

import pytest

from workbench.backends.native.building.c_units import Unit, included
from workbench.codegen.printing.statement_marks import mark


@pytest.mark.parametrize(
    ("line", "statement"),
    [(1, None), (2, "policy.loss"), (3, "policy.loss"), (4, "x[0]"), (5, "x[0]"), (9, "x[0]")],
)
def test_line_is_of_the_statement_of_the_last_mark_above_it(
    line: int, statement: str | None
) -> None:
    lines = ["#include <math.h>", mark("policy.loss"), "a;", f"{mark('q')} b; {mark('x[0]')}", "c;"]
    assert Unit("kernel", "\n".join(lines)).statement_at(line) == statement


FUNCTIONS = f"""#include "run.h"

void one(Run *run) {{
    float *x = run->x;
    {mark("x")}
    for (;;) {{
        x[0] = 1;
    }}
}}

void two(Run *run) {{
    float *y = run->y;
    {mark("y")}
    y[0] = 1;
    {mark("z")}
    y[1] = 1;
}}
int after;
"""


@pytest.mark.parametrize(
    ("line", "statement"),
    [
        (1, None), (2, None), (3, "x"), (4, "x"), (5, "x"), (8, "x"), (9, "x"), (10, None),
        (11, None), (12, None), (13, "y"), (14, "y"), (16, "z"), (17, None), (18, None),
    ],
)  # fmt: skip
def test_line_is_of_a_statement_of_its_function(line: int, statement: str | None) -> None:
    assert Unit("kernel", FUNCTIONS).statement_at(line) == statement


def test_statements_of_a_unit_are_in_order() -> None:
    assert Unit("kernel", FUNCTIONS).statements == ("x", "y", "z")
    assert Unit("empty", "").statement_at(1) is None


def test_headers_are_those_that_a_text_includes_through_others_too() -> None:
    headers = {
        "a.h": ' # include "b.h"\n',
        "b.h": '#include "a.h"\n#include "system.h"\n',
        "c.h": "",
        "d.h": "",
    }
    text = '#include <c.h>\n#include "a.h"\nchar *s = "d.h";\n'
    assert [*included(text, headers)] == ["a.h", "b.h"]
