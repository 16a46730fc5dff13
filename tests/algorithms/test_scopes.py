"""What a picture of an algorithm groups, and what stands outside of all groups."""

from __future__ import annotations

import workbench as wb
from workbench.algorithms import a2c, ppo
from workbench.program.values import Program


def outermost(program: Program) -> dict[str, set[str]]:
    """Arrays by the outermost scope of the statements that write them; "" for none."""
    found: dict[str, set[str]] = {}
    for statement in program.statements:
        found.setdefault((*statement.scope, "")[0], set()).add(statement.array)
    return found


def test_all_of_ppo_but_what_its_parts_exchange_stands_in_a_scope() -> None:
    found = outermost(ppo())
    assert found[""] == {"done", "state", "value", "target"}
    assert set(found) - {""} == {
        "parameters", "environment", "actor", "policy", "episodes", "critic", "advantage",
        "minibatch", "loss", "gradient", "optimizer",
    }  # fmt: skip
    assert found["minibatch"] == {
        f"minibatch.{n}" for n in ("sample_permutation", "sample", "row", "step")
    }


def test_networks_stand_in_the_loss_where_they_learn_and_outside_of_it_where_they_act() -> None:
    program = ppo()
    acting, learning = program.statement["actor.output"], program.statement["loss.actor.output"]
    assert (acting.scope, acting.dims) == (("actor",), ("b", "i", "t"))
    assert (learning.scope, learning.dims) == (("loss", "actor"), ("i", "e", "m", "k"))


def test_all_of_a2c_but_what_its_parts_exchange_stands_in_a_scope() -> None:
    found = outermost(a2c())
    assert found[""] == {"done", "state", "value", "advantage"}
    assert {"environment", "policy", "critic", "returns", "loss", "gradient", "optimizer"} < set(
        found
    )


def test_values_in_a_scope_are_found_by_the_names_that_the_algorithm_gives_them() -> None:
    ratio = wb.value(ppo(B=2, T=4, I=1, E=1, M=2), "ratio", i=0, e=0, m=0, k=1)
    advantage = wb.value(a2c(B=2, T=3, I=1), "advantage", b=0, i=0, t=1)
    assert ratio.statement is not None and ratio.statement.array == "loss.ratio"
    assert advantage.statement is not None and advantage.statement.array == "advantage"
