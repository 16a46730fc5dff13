"""What a picture of an algorithm groups, and what stands outside of all groups."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from workbench.algorithms import a2c, ppo, reinforce
from workbench.language.template.template import Template
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


def phases(program: Program) -> dict[str, set[str]]:
    """The outermost scopes of each phase's statements."""
    found: dict[str, set[str]] = {}
    for statement in program.statements:
        found.setdefault(statement.phase, set()).add((*statement.scope, "")[0])
    return found


@pytest.mark.parametrize("algorithm", [ppo, a2c, reinforce])
def test_an_algorithm_is_acting_or_learning_but_for_the_first_parameters(
    algorithm: Template,
) -> None:
    found = phases(algorithm())
    assert set(found) == {"", "acting", "learning"}
    assert found[""] == {"parameters"}
    assert {"environment", "policy"} <= found["acting"]
    assert {"gradient", "optimizer", "parameters"} <= found["learning"]
    assert "environment" not in found["learning"]


def test_a_phase_is_no_part_of_names_and_keys() -> None:
    @wb.program
    def walk(T: int = 3) -> dict[str, wb.Tensor]:
        t = wb.dim(t=T)
        with wb.scope("acting", named=False):
            step = wb.uniform(over=t)
            with wb.scope("far"):
                doubled = 2.0 * step
        return {"end": doubled.sum(over=t), "doubled": doubled}

    program = walk()
    known = {s.name: (s.phase, s.scope) for s in program.statements}
    assert known["step"] == ("acting", ())
    assert known["far.doubled"] == ("acting", ("far",))
    assert known["end"] == ("", ())
    without = replace(
        program,
        equations=replace(
            program.equations, statements=tuple(replace(s, phase="") for s in program.statements)
        ),
    )
    assert wb.variant(without).key == wb.variant(program).key
    assert str(without) == str(program)
