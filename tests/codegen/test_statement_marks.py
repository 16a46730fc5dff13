"""The statements of C text's lines."""

from workbench.codegen.printing.statement_marks import mark, marked_lines, statements_around

TEXT = f"""void one(Run *run) {{
    float *x = run->x;
    {mark("x[0]")}
    for (;;) {{
    }}
    {mark("y")} {mark("z")}
}}
int other;
"""
OWNERS = [None, None, "x[0]", "x[0]", "x[0]", "z", None, None]


def test_lines_have_the_statement_of_the_last_mark_in_their_function() -> None:
    lines = marked_lines(TEXT)
    assert [line for line, _ in lines] == TEXT.splitlines()
    assert [statement for _, statement in lines] == OWNERS


def test_statements_around_a_line_are_those_of_its_function() -> None:
    lines = marked_lines(TEXT)
    around = [statements_around(lines, place) for place in range(len(lines))]
    assert around == [["x[0]", "z"]] * 7 + [[]]
