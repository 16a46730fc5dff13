from __future__ import annotations

import json
from dataclasses import fields, replace

import workbench as wb
from tests.programs import returns
from tests.session import example
from workbench.algorithms import ppo
from workbench.algorithms.reinforce import reinforce
from workbench.polyhedral import tree
from workbench.session.picture.scopes import closed_at_first
from workbench.session.picture.snapshot import Node, Snapshot, snapshot
from workbench.session.protocol.capsule import plain
from workbench.transforms import Incrementalize


def by_title(shown: Snapshot) -> dict[str, Node]:
    return {node.title: node for node in shown.nodes}


def test_a_statement_with_a_reduction() -> None:
    node = by_title(snapshot(example.small()))["y[b, t]"]
    assert node.kind == "reduction"
    assert node.summary == "sum over k"
    assert node.domain == "{ [b, t] : 0 <= b < B and 0 <= t < T }"
    assert node.reduction == "{ [b, t, k] : 0 <= b < B and 0 <= t < T and t <= k < T }"
    assert node.write.relation == "[b, t] → y[b, t]"
    assert [read.relation for read in node.reads] == ["[b, t; k] → s[b, k]"]
    assert node.line is not None
    assert (node.line.file, node.line.number) == ("reinforce.py", 14)


def test_what_the_user_named_is_drawn_outside_of_scopes() -> None:
    """`state` is the environment's, and what the text and the steps are about."""
    nodes = snapshot(reinforce()).nodes
    drawn = {node.scope for node in nodes if node.array == "state"}
    others = {node.scope for node in nodes if node.array.startswith("environment.")}
    assert (drawn, others) == ({()}, {("environment",)})


def test_edges_carry_the_index_where_it_is_not_the_loop_variables() -> None:
    edges = snapshot(example.small()).edges
    assert [(e.source, e.target, e.label, e.carried) for e in edges] == [
        ("s2", "s3", "t=0", False),
        ("s3", "s3", "t + 1", True),
        ("x1", "s3", "", False),
        ("s2", "y4", "t:T", False),
        ("s3", "y4", "t:T", False),
        ("y4", "loss5", "0, 0", False),
    ]
    assert edges[1].relation.startswith("{ [b, t] -> [b' = b, t' = 1 + t] :")


def test_a_write_of_the_next_instance_is_an_update() -> None:
    shown = snapshot(example.reinforce())
    node = by_title(shown)["policy.weight0[next i]"]
    assert node.kind == "update"
    assert {e.label for e in shown.edges if e.source == node.id} == {"next"}
    assert all(e.carried for e in shown.edges if e.source == node.id)


def test_what_an_update_wrote_in_the_same_instance_is_not_carried() -> None:
    shown = snapshot(ppo()).edges
    moments = [
        e
        for e in shown
        if e.target == "parameters.actor.bias_1[next]" and "optimizer.m" in e.source
    ]
    assert [(e.source, e.label, e.carried) for e in moments] == [
        ("optimizer.m.actor.bias_1[next]", "next", False)
    ]
    assert all(e.carried for e in shown if e.source == "parameters.actor.bias_1[next]")


def test_a_call_of_an_external_object_is_a_kind_of_its_own() -> None:
    nodes = {n.id: n for n in snapshot(ppo(environment="Gymnasium:CartPole-v1")).nodes}
    calls = {n.id: n.summary for n in nodes.values() if n.kind == "external"}
    assert calls == {
        "environment.token[0,0]": "call CartPole-v1.reset (B, 7)",
        "environment.stepped": "call CartPole-v1.step (B, 7)",
        "environment.token[t+1]": "call CartPole-v1.restart (B, 7)",
    }
    assert nodes["environment.token[i+1,0]"].kind == "recurrence"


def test_a_title_leaves_out_the_scopes_around_it() -> None:
    program = example.small()
    scoped = tuple(replace(s, scope=(s.array,)) for s in program.statements)
    moved = replace(program, equations=replace(program.equations, statements=scoped))
    assert [n.title for n in snapshot(moved).nodes] == [n.title for n in snapshot(program).nodes]


def test_a_short_name_tells_the_pieces_of_an_array_apart() -> None:
    short = {node.title: node.box.short for node in snapshot(example.reinforce()).nodes}
    assert short["alive[b, i, t + 1]"] == "alive[t + 1]"
    assert short["policy.weight0[next i]"] == "policy.weight0[next]"
    assert short["to_go[b, i, t]"] == "to_go"
    shown = snapshot(example.small()).nodes
    assert [n.box.short for n in shown if n.array == "s"] == ["s[0]", "s[t + 1]"]


def test_every_statement_knows_the_loops_around_it() -> None:
    written = wb.variant(reinforce())
    shown = snapshot(written.program)
    marks = {
        n.id: [shown.loops[position].mark for position in n.loops] for n in shown.nodes if n.loops
    }
    assert marks["gain"] == ["i", "b", "t"]
    assert [line.strip() for line in shown.schedule.splitlines() if line.endswith(":")] == [
        f"{loop.text}:" for loop in shown.loops
    ]
    step = wb.transforms.Vectorize("b")
    after = snapshot(written.apply(step).program)
    gain = next(n for n in after.nodes if n.id == "gain")
    assert [after.loops[position].mark for position in gain.loops] == ["i", "[b]", "t"]


def test_a_loop_backwards_or_over_blocks_is_marked() -> None:
    program = example.small()
    *before, leaf = (tree.Leaf(s.name) for s in program.statements if s.name != "loss")
    blocks = tree.Loop("b", tree.Loop("t", leaf, backwards=True), tile=8)
    order = tree.Block((*before, blocks, tree.Leaf("loss")))
    shown = snapshot(replace(program, schedule=order))
    assert [loop.mark for loop in shown.loops] == ["b/8", "←t"]
    assert [loop.text for loop in shown.loops] == ["for b in blocks of 8", "for t reversed"]


def test_a_dim_that_counts_blocks_has_the_mark_of_blocks() -> None:
    """It reads the same whether it was made by a loop over blocks or as a dim of its own."""
    variant = wb.variant(returns()).apply(Incrementalize("to_go", "t", block=8))
    shown = snapshot(variant.program)
    assert {"t/8", "←t/8"} <= {loop.mark for loop in shown.loops}
    chips = [node.box.dot.rpartition("·")[2] for node in shown.nodes]
    assert not any("_block" in text for text in chips)


def test_a_statement_outside_of_all_loops_has_none() -> None:
    shown = snapshot(example.small())
    assert [loop.text for loop in shown.loops] == ["for b", "for t", "for t"]
    assert {n.id for n in shown.nodes if n.loops == ()} == {"loss5"}


def test_outputs_are_marked() -> None:
    marked = {n.title: n.outputs for n in snapshot(example.reinforce()).nodes if n.outputs}
    assert marked == {"loss[i]": ("loss",), "episode_return[i]": ("episode_return",)}


def test_json_has_the_declared_fields_and_is_small() -> None:
    value = plain(snapshot(example.reinforce(12)))
    assert set(value) == {f.name for f in fields(Snapshot)}
    assert set(value["nodes"][0]) == {f.name for f in fields(Node)}
    assert len(value["nodes"]) > 240
    assert len(json.dumps(value)) < 500_000


def test_a_small_program_has_no_closed_scope() -> None:
    assert closed_at_first([("a",)] * 24) == ()


def test_a_large_program_opens_its_small_scopes() -> None:
    paths = [("a",)] * 50 + [("b",)] * 20 + [("b", "c")] * 30
    assert closed_at_first(paths) == (("a",), ("b", "c"))


def test_a_large_program_without_scopes_closes_none() -> None:
    assert closed_at_first([()] * 300) == ()


def test_a_word_that_the_documentation_breaks_at_its_hyphen_is_one() -> None:
    shown = snapshot(reinforce()).description
    assert "the return-to-go," in shown and "a lambda-return" in shown
    assert "horizon T end" in shown  # other lines end as they did
