"""Units: which statement a line is of, which headers a text needs."""

import pytest

from workbench.backends.native.c_units import Unit, included, mark


@pytest.mark.parametrize(
    ("line", "statement"),
    [(1, None), (2, "policy.loss"), (3, "policy.loss"), (4, "x[0]"), (5, "x[0]"), (9, "x[0]")],
)
def test_line_is_of_the_statement_of_the_last_mark_above_it(
    line: int, statement: str | None
) -> None:
    lines = ["#include <math.h>", mark("policy.loss"), "a;", f"{mark('q')} b; {mark('x[0]')}", "c;"]
    assert Unit("kernel", "\n".join(lines)).statement_at(line) == statement


def test_headers_are_those_that_a_text_includes_through_others_too() -> None:
    headers = {
        "a.h": ' # include "b.h"\n',
        "b.h": '#include "a.h"\n#include "system.h"\n',
        "c.h": "",
        "d.h": "",
    }
    text = '#include <c.h>\n#include "a.h"\nchar *s = "d.h";\n'
    assert [*included(text, headers)] == ["a.h", "b.h"]
