"""What brings pairs into order: nothing is left where the order is legal."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.polyhedral.dependences.test_legality import dependences, trees
from tests.polyhedral.examples import T, all_sizes, equation, flow_pairs, k, programs, t
from workbench.polyhedral.dependences.legality import shared_steps, violations
from workbench.polyhedral.dependences.settling import Settled, settled
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, paths


def of_all(tree: Tree, found) -> dict[object, Settled]:
    at = paths(tree)
    return {
        d: settled(
            found.relation(d),
            shared_steps(found.statements[d.source], found.statements[d.sink], at),
        )
        for d in found.all
    }


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_pairs_are_left_exactly_where_a_dependence_is_violated(data: st.DataObject) -> None:
    equations = data.draw(programs())
    tree, found = data.draw(trees(equations)), dependences(equations)
    broken = {v.dependence for v in violations(tree, found)}
    for d, order in of_all(tree, found).items():
        assert order.whole == (d not in broken)
        sizes = {"B": 1, "I": 1, "T": 1, **order.least}
        assert order.at(sizes)
    for sizes in all_sizes("BIT", 2):
        pairs = {
            (d.source, p, d.sink, q, d.access)
            for d, order in of_all(tree, found).items()
            for p, q in order.at(sizes)
        }
        by_hand = {(p[0], p[1], q[0], q[1], n) for p, q, _, n in flow_pairs(equations, sizes)}
        assert pairs == by_hand


def test_a_suffix_is_read_backwards_in_one_loop_and_behind_a_loop_of_its_own() -> None:
    reward = equation("reward", "t", "r", [t])
    to_go = equation("to_go", "t", "G", [t], ("r", [k]), reduction=(("k", t, T),))
    found = dependences([reward, to_go])
    together = Loop("t", Block((Leaf("reward"), Leaf("to_go"))), backwards=True)
    apart = Block((Loop("t", Leaf("reward")), Loop("t", Leaf("to_go"))))
    (one,), (other,) = (of_all(tree, found).values() for tree in (together, apart))
    assert (one.positions, other.positions) == ((0, 1), (0,))
    assert one.whole and other.whole
    assert one.least == {"T": 1}


def test_an_instance_and_itself_are_told_from_two() -> None:
    step = equation("step", "t", "x", [t + 1], ("x", [t]))
    (order,) = of_all(Loop("t", Leaf("step"), "axis"), dependences([step])).values()
    assert not order.whole and not order.by_itself
