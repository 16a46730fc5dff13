"""How moves show themselves: short in a list, whole where printed."""

from __future__ import annotations

import workbench as wb
from tests.programs import small_reinforce
from tests.variants.test_variant import walk
from workbench.errors import SourceLine, TooComplexError
from workbench.transforms import Distribute, Fuse, Vectorize
from workbench.transforms.step.refusal import WIDTH, Help, Refusal, Refused
from workbench.variants.move import Move, Moves

REFUSED = Move(Fuse(("x", "y")), Refusal("capability", "Fuse(('x', 'y')): they cannot"))


def test_list_shows_itself_by_transform() -> None:
    found = Moves([Move(Vectorize("b"), None), Move(Vectorize("t"), None), REFUSED])
    assert repr(found) == (
        "3 moves, 2 legal; print(*moves, sep='\\n') shows all\n"
        "  Fuse             1 refused  Fuse(('x', 'y'))\n"
        "  Vectorize        2 legal    Vectorize('b'), Vectorize('t')"
    )
    assert repr(Moves([REFUSED])).startswith("1 move, 0 legal; ")


def test_long_list_is_a_few_short_lines() -> None:
    found = wb.variant(small_reinforce()).moves()
    lines = repr(found).splitlines()
    assert len(found) > 50
    assert len(lines) < 25
    assert max(map(len, lines)) <= WIDTH
    assert any(line.endswith("…") for line in lines)


def test_move_is_short_in_a_list_and_whole_where_printed() -> None:
    note = " ".join(f"statement_{k}," for k in range(40))
    move = Move(Vectorize("b"), None, (note, "before\n    after"))
    assert repr(move) == "Vectorize('b'): legal, 2 notes"
    assert repr(Move(Vectorize("b"), None, (note,))) == "Vectorize('b'): legal, 1 note"
    assert str(move).split() == ["Vectorize('b'):", "legal", *note.split(), "before", "after"]
    assert max(map(len, str(move).splitlines())) <= WIDTH
    assert str(move).endswith("\n  before\n      after")


def test_refused_move_says_its_kind_and_where_printed_the_sentence() -> None:
    assert repr(REFUSED) == "Fuse(('x', 'y')): refused (capability)"
    assert str(REFUSED) == "Fuse(('x', 'y')): refused\n  they cannot"


def test_step_of_many_names_is_cut_for_reading_and_whole_as_source() -> None:
    names = tuple(f"x{k}" for k in range(9))
    step = Distribute(names)
    assert str(step) == "Distribute(('x0', … 7 more …, 'x8'))"
    assert repr(step) == f"Distribute({names!r})"
    assert eval(repr(step), {"Distribute": Distribute}) == step


def test_refusal_lists_what_is_possible_instead_a_line_each() -> None:
    refusal = Refusal("no effect", "no.", help=lambda: Help((Vectorize("b"),), (Vectorize("t"),)))
    assert str(refusal) == (
        "no.\n"
        "  possible first (.repairs):\n    Vectorize('b')\n"
        "  possible instead (.instead):\n    Vectorize('t')"
    )


def test_refusal_stands_where_what_helps_is_too_complex_to_find() -> None:
    def endless() -> Help:
        raise TooComplexError("too complex, given up after 5 operations")

    refusal = Refusal("no effect", "no.", help=endless)
    assert (refusal.repairs, refusal.instead, str(refusal)) == ((), (), "no.")


def test_what_is_refused_is_printed_in_lines_that_break_between_words() -> None:
    sentence = " ".join(f"statement_{k}," for k in range(40))
    line = SourceLine("example.py", 12, "loss = " + " + ".join(f"term_{k}" for k in range(30)))
    step = Vectorize("b", tuple("abcd"))
    refusal = Refusal("capability", sentence, line=line, help=lambda: Help(instead=(step,)))
    for shown in (str(refusal), str(Move(step, refusal)), str(Refused(refusal))):
        lines = shown.splitlines()
        assert max(map(len, lines)) <= WIDTH
        assert "".join(shown.split()).count("".join(sentence.split())) == 1
        assert all(word in shown.split() for word in sentence.split())
    first, second, *_ = str(refusal).splitlines()
    assert first.startswith("statement_0") and second.startswith("  statement_")
    assert Refused(refusal).message == sentence


def test_recipe_of_a_step_with_many_names_is_python() -> None:
    names = ("position", "position[0]", "position[t+1]", "position", "position_normal")
    found = wb.variant(walk()).apply(Vectorize("b", names))
    assert f"wb.transforms.Vectorize('b', statements={names!r})" in found.recipe()
