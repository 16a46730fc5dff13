from dataclasses import replace

import pytest

import workbench as wb
from workbench.program.storage import Storage
from workbench.program.values import Program
from workbench.session.picture.dot_boxes import KEPT
from workbench.session.picture.snapshot import snapshot
from workbench.session.picture.storing import storage_marks, storage_text
from workbench.transforms.step.transform import Transform


def example() -> Program:
    @wb.program
    def walk(B=4, T=6):
        b, t = wb.dims(b=B, t=T)
        place = wb.recurrent("place", (), over=(b, t))
        place[b, 0] = 1.0
        place[b, t + 1] = 0.5 * place + wb.uniform(over=(b, t))
        cost = wb.exp(place[b, t])
        double = 2.0 * cost
        return {"cost": double.sum(over=t).mean(over=b), "last": place[b, T]}

    return walk()


@pytest.mark.parametrize(
    ("step", "array", "told"),
    [
        (None, "place", "device memory"),
        (
            wb.transforms.Swap("place"),
            "place",
            "host memory, slices come to the device for their use",
        ),
        (
            wb.transforms.Accumulate("t"),
            "cost_sum.points",
            "device memory, an element for each sum: the points are added up, not stored",
        ),
        (
            wb.transforms.Contract("cost", "t"),
            "cost",
            "device memory, of t only the slices in use",
        ),
        (
            wb.transforms.Donate("cost", "double"),
            "double",
            "device memory, takes over that of cost",
        ),
        (wb.transforms.Donate("cost", "double"), "cost", "device memory, handed on to double"),
    ],
)
def test_storage_is_told(step: Transform | None, array: str, told: str) -> None:
    program = example()
    if step is not None:
        program = wb.variant(program).apply(step).program
    assert storage_text(program, array) == told
    shown = [node.storage for node in snapshot(program).nodes if node.array == array]
    assert set(shown) == {told}


@pytest.mark.parametrize(
    ("step", "array", "marks"),
    [
        (None, "place", ()),
        (wb.transforms.Contract("cost", "t"), "cost", ("1 of T",)),
        (wb.transforms.Contract("place", "t"), "place", ("2 of T + 1",)),
        (wb.transforms.Contract("cost", "t"), "place", ()),
        (wb.transforms.Swap("place"), "place", ("host",)),
    ],
)
def test_what_is_kept_is_on_the_chips(
    step: Transform | None, array: str, marks: tuple[str, ...]
) -> None:
    program = example()
    if step is not None:
        program = wb.variant(program).apply(step).program
    assert storage_marks(program)[array] == marks
    shown = snapshot(program)
    for node in shown.nodes:
        if node.array == array:
            assert node.kept == marks
            folded = marks if len("".join(marks)) <= KEPT else (f"+{len(marks)}",)
            assert all(f"{mark}<" in node.box.dot or f"{mark} " in node.box.dot for mark in folded)


def test_what_is_kept_of_points_that_are_added_up_is_that_of_their_sums() -> None:
    program = example()
    for step in (wb.transforms.Accumulate("t"), wb.transforms.Contract()):
        program = wb.variant(program).apply(step).program
    array = "cost_sum.points"
    assert (array, "b") in program.storage.contracted
    assert storage_marks(program)[array] == ("1 of B",)
    assert {n.kept for n in snapshot(program).nodes if n.array == array} == {("1 of B",)}


@pytest.mark.parametrize(
    ("storage", "told"),
    [
        (Storage(donated=(("place", "place"),)), "device memory, updated in place"),
        (
            Storage(swapped=(("place", 2),)),
            "host memory, slices come to the device for their use, 2 iterations early",
        ),
        (
            Storage(contracted=(("place", "b"), ("place", "t"))),
            "device memory, of b and t only the slices in use",
        ),
        (Storage(layouts=(("place", ("t", "b")),)), "device memory, laid out as t b"),
    ],
)
def test_storage_that_steps_seldom_come_to_is_told(storage: Storage, told: str) -> None:
    assert storage_text(replace(example(), storage=storage), "place") == told
