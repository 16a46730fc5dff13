"""The nodes of schedule trees, and trees that differ from another in some nodes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.polyhedral.notation import parse
from tests.polyhedral.test_notation import leaves, loops
from workbench.polyhedral import tree as trees
from workbench.polyhedral.tree import Leaf, Loop, Tree, mapped, replaced, sequence, text

TREES = st.recursive(leaves, loops, max_leaves=8)
NEST = parse("for i:\n    a\n    for t:\n        axis b:\n            x\n        y\nz\n")


@given(TREES)
def test_loops_and_statements_come_in_the_order_of_the_text(tree: Tree) -> None:
    lines = text(tree).splitlines()
    headings = [line.strip() for line in lines if line.endswith(":") or "# shifted" in line]
    assert [trees.heading(loop, "") for loop in trees.loops(tree)] == [
        line.split("    # shifted")[0] for line in headings
    ]
    assert list(trees.statements(tree)) == [s for _, s in trees.lines(tree) if s is not None]
    assert trees.has_loop(tree) == any(line.startswith("for") for line in headings)


@given(TREES)
def test_tree_in_which_nothing_changes_stays_the_same_object(tree: Tree) -> None:
    assert mapped(tree, lambda node: None) is tree
    assert replaced(tree, Leaf("elsewhere"), Leaf("new")) is tree


@given(TREES, st.data())
def test_replaced_node_stands_where_the_other_stood(tree: Tree, data: st.DataObject) -> None:
    names = list(trees.statements(tree))
    position = data.draw(st.integers(0, len(names) - 1))
    leaf = [node for node in trees.nodes(tree) if isinstance(node, Leaf)][position]
    if sum(node is leaf for node in trees.nodes(tree)) > 1:
        return  # equal parts may be one object
    new = sequence([Leaf("first"), Leaf("second")])
    expected = [*names[:position], "first", "second", *names[position + 1 :]]
    assert list(trees.statements(replaced(tree, leaf, new))) == expected


def test_only_the_outermost_node_is_edited() -> None:
    def doubled(node: Tree) -> Tree | None:
        return Loop("k", node) if isinstance(node, Loop) and node.dim != "i" else None

    assert text(mapped(NEST, doubled)) == (
        "for i:\n    a\n    for k:\n        for t:\n            axis b:\n                x\n"
        "            y\nz\n"
    )


def test_path_is_shared_down_to_where_statements_part() -> None:
    paths = trees.paths(NEST)
    names = [loop.name for loop in trees.loops_above(trees.shared_path([paths["x"], paths["y"]]))]
    assert names == ["i", "t"]
    assert [loop.name for loop in trees.loops_above(paths["x"])] == ["i", "t", "b"]
    assert [loop.name for loop in trees.loops_above(paths["x"], "axis")] == ["b"]
    assert trees.shared_path([paths["a"], paths["z"]]) == ()
    assert trees.shared_path([paths["y"]]) == paths["y"]
