"""`--help`, `workbench show` and `workbench list`."""

import pytest

from tests.cli.calling import Call


def test_help_lists_an_algorithm_s_arguments_with_defaults(workbench: Call) -> None:
    done = workbench("run", "reinforce", "--help")
    assert done.code == 0
    for option, default in [("--B", "64"), ("--gamma", "0.99"), ("--hidden", "64,64")]:
        (line,) = [x for x in done.out.splitlines() if x.strip().startswith(f"{option} ")]
        assert line.endswith(f"default {default}")
    assert "--learning-rate" in done.out


@pytest.mark.parametrize("words", ["--help", "run --help", "show -h", "lab --help", "list -h"])
def test_help_is_printed(workbench: Call, words: str) -> None:
    done = workbench(*words.split())
    assert done.code == 0
    assert done.out.startswith("usage: workbench")


def test_no_command_prints_help_and_fails(workbench: Call) -> None:
    done = workbench()
    assert done.code == 2
    assert "doctor" in done.out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("", "state[b, i, t + 1]"),
        ("--equations", "state[b, i, t + 1]"),
        ("--schedule", "    for b:"),
        ("--schedule --vectorized b", "    axis b:"),
        ("--loops", "for t in 0:T:"),
        ("--source", "def program("),
        (
            "--python --automatic --backend numpy",
            "variant = variant.apply(wb.transforms.Vectorize('b'))",
        ),
        ("--schedule --python", "# schedule\n"),
        ("--kernels --dtype float64", "divide_d("),
        ("--stage schedule", "    for b:"),
        ("--stage loops", "action at b=b, i=i, t=t"),
        ("--stage lifetimes", "loss: all of i\n"),
        ("--stage storage", "loss: float[I] over i, begins as nan\n"),
        ("--stage operations", "# state"),
        ("--stage prefetching", "# state"),
        ("--stage memory", "allocate state: "),
        ("--schedule --stage memory", "\n# memory\n"),
    ],
)
def test_show_prints_what_is_asked_for(workbench: Call, options: str, text: str) -> None:
    done = workbench("show", "reinforce", *options.split())
    assert done.code == 0
    assert text in done.out


def test_list_names_everything(workbench: Call) -> None:
    out = workbench("list").out
    for text in ("reinforce: REINFORCE", "--hidden 64,64", "CartPole: ", "Vectorize: ", "numpy: "):
        assert text in out
    assert "  Pendulum: " in out
    assert "ENVIRONMENTS" not in out
