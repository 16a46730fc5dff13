"""The quick benchmarks, each in a process of its own; their figures are printed and bounded.

Bounds are the targets where a busy machine does not decide them, and looser where it does.
"""

import json
from typing import Any

import pytest

from tests.benchmarks.measuring import module
from workbench.transforms.step.transform import REGISTRY


def figures(capsys: pytest.CaptureFixture[str], name: str, *words: str) -> dict[str, Any]:
    """A benchmark's JSON lines by what they are of, printed on the way."""
    found = module(name, *words, threads=1)
    with capsys.disabled():
        print()
        for line in found:
            print(json.dumps(line))
    return {line["what"]: line for line in found}


def test_start_is_quick(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys, "start")
    assert min(found["import"]["samples"]) <= 0.5
    assert found["import beyond NumPy / import NumPy"]["of_least"] <= 3.0
    assert min(found["trace_and_root_schedule"]["samples"]) <= 1.0
    assert min(found["ppo_trace_and_root_schedule"]["samples"]) <= 1.5
    assert min(found["ppo_first_update"]["samples"]) <= 4.0
    assert found["ppo_8_layers / ppo_trace_and_root_schedule"]["of_least"] <= 3.0
    assert found["ppo_8_layers_as_dim / ppo_trace_and_root_schedule"]["of_least"] <= 1.5


def test_vectorized_program_is_many_times_faster(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys, "vectorize", "--B", "256", "--T", "20", "--rounds", "3")
    # The target is 100; the ratio also falls when the program as written becomes faster.
    assert found["as written / vectorized over b"]["of_least"] >= 20


def test_steady_state_is_within_reach_of_the_arithmetic(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys, "steady", "--I", "20")
    assert found["steady"]["floor_share"] >= 0.05


def test_tracked_peak_is_what_numpy_holds_and_what_was_computed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = module("memory", threads=1)
    with capsys.disabled():
        print()
        for line in found:
            print(json.dumps(line))
    assert all(line["equal"] for line in found)
    assert min(line["tracked_share"] for line in found) >= 0.95


def test_least_memory_is_as_predicted_and_a_part_of_what_the_fastest_holds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = figures(capsys, "frugal", "--B", "32", "--T", "200", "--rounds", "2")
    fast, least = found["REINFORCE for time"], found["REINFORCE for memory"]
    assert fast["equal"] and least["equal"]
    assert least["device_bytes"] <= fast["device_bytes"] / 4


def test_blocked_scan_is_many_times_faster_than_the_quadratic_forms(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = figures(capsys, "scan", "--rounds", "5")
    assert found["quadratic, by hand / blocked"]["of_least"] >= 100
    assert found["a product a step, by hand / blocked"]["of_least"] >= 30


def test_functions_of_compiled_programs_keep_up_with_their_products(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = figures(capsys, "functions", "--rounds", "5")
    assert set(found) >= {"exp", "tanh", "log", "sin", "cos", "permutation", "normal"}
    if found["tanh"]["lanes"] == 16:
        assert found["tanh"]["billions_per_second"] >= 2
        assert found["exp"]["billions_per_second"] >= 1.6


def test_compiled_ppo_is_faster_than_numpy_in_the_memory_predicted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = figures(capsys, "native", "--quick")
    assert found["native / numpy, ppo, CartPole, B=4"]["ratio"] >= 2  # the target is 4
    memory = found["memory, ppo, B=4, gcc"]
    assert memory["rss_mb"] <= memory["required_rss_mb"]
    assert memory["allocated_mb"] == memory["predicted_mb"]


def test_every_transform_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys, "steps", "--programs", "reinforce")
    for state in ("as written", "optimized"):
        lines = [found[f"reinforce {state}: {name}"] for name in REGISTRY]
        assert any(line.get("legal") for line in lines)
    assert found["reinforce optimized: Vectorize"]["legal"] == 0


@pytest.mark.parametrize("statements", ["300", "1000"])
def test_a_large_graph_stays_under_the_hand(
    capsys: pytest.CaptureFixture[str], chromium: str, statements: str
) -> None:
    found = figures(capsys, "drawing", "--statements", statements)
    for what in ("open_all", "drag_near", "drag_far"):
        assert found[what]["longest_task_cpu_ms"] <= 75  # the target is 50 of an idle machine
    assert found["drag_near"]["frames_per_second"] >= 30
    assert found["drag_far"]["frames_per_second"] >= 30


def test_the_workbench_in_jupyterlab_is_quick_and_asks_for_nothing_twice(
    capsys: pytest.CaptureFixture[str], chromium: str
) -> None:
    found = figures(capsys, "browser")
    assert found["click_details_again"]["requests"] == 0
    assert found["click_moves_again"]["requests"] == 0
    assert found["click_details_again"]["milliseconds"] <= 100
    assert found["snapshot"]["bytes"] <= found["snapshot"]["target"]
