"""Learning curves: what is drawn, what it is called, and what cannot be drawn."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import workbench as wb
from workbench.algorithms import ppo, reinforce
from workbench.errors import WorkbenchError
from workbench.measure.run import Result


@pytest.fixture(scope="module")
def result() -> Result:
    """Updates so short that no episode ends in some of them."""
    return wb.run(ppo(B=1, T=16, I=6, E=1, M=2, hidden=(3,)), progress=False, backend="numpy")


def lines(figure: Figure) -> dict[str, Any]:
    """x and y of each axes' only line, by its label's first line."""
    found = {}
    for axes in figure.axes:
        (line,) = axes.lines
        found[axes.get_ylabel().splitlines()[0]] = (line.get_xdata(), line.get_ydata())
    return found


def test_figure_has_a_title_labels_and_the_outputs(result: Result) -> None:
    figure = result.plot()
    assert isinstance(figure, Figure)
    assert figure.get_suptitle() == "ppo: B=1, I=6, T=16, E=1, M=2, K=8, seed 0, float32"
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "loss\nmean over e, m",
        "return per episode\n(sum of rewards)",
        "episodes ended\nper update",
    ]
    assert {axes.get_xlabel() for axes in figure.axes} == {"update i"}
    drawn = lines(figure)
    x, y = drawn["loss"]
    np.testing.assert_array_equal(x, np.arange(6))
    np.testing.assert_allclose(y, result["loss"].mean(axis=(1, 2)), rtol=1e-6)
    np.testing.assert_array_equal(drawn["episodes ended"][1], result["episodes"])


def test_update_without_an_episodes_end_is_a_gap(result: Result) -> None:
    returns = result["episode_return"]
    assert np.isnan(returns).any() and np.isfinite(returns).any()
    (axes,) = result.plot("episode_return").axes
    (line,) = axes.lines
    np.testing.assert_array_equal(np.asarray(line.get_ydata()), returns)


def test_value_between_two_gaps_is_marked() -> None:
    """A line needs two points; a single one would not be seen."""
    from workbench.measure.runs.curves import curves

    values, whole = np.array([np.nan, 2.0, np.nan, np.nan]), np.arange(4.0)
    figure = curves({"a": values, "b": whole}, {"a": ("i",), "b": ("i",)}, "title")
    assert [axes.lines[0].get_marker() for axes in figure.axes] == [".", "None"]


def test_figure_is_drawn_without_pyplot(result: Result, tmp_path: Any) -> None:
    before = "matplotlib.pyplot" in sys.modules
    result.plot().savefig(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 1000
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_updates_are_numbered_on_from_a_checkpoint(tmp_path: Any) -> None:
    program = reinforce(B=2, T=3, I=2, hidden=(3,))
    wb.run(program, progress=False, backend="numpy").save(tmp_path / "saved.safetensors")
    on = wb.run(program, progress=False, parameters=tmp_path / "saved.safetensors", backend="numpy")
    (axes,) = on.plot("loss").axes
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [2, 3])


def sentence(result: Result, *names: str) -> str:
    with pytest.raises(WorkbenchError) as error:
        result.plot(*names)
    return error.value.message


def test_curve_refused_when_there_is_no_such_output(result: Result) -> None:
    assert sentence(result, "episode_returns") == (
        "no output 'episode_returns': did you mean episode_return? "
        "(curves: loss, episode_return, episodes)"
    )


def test_curve_refused_when_the_output_is_a_single_number() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.normal(over=t)
        return {"total": x.sum(over=t), "pairs": wb.normal(shape=2, over=t)}

    result = wb.run(example(), progress=False, backend="numpy")
    assert sentence(result, "total") == (
        "'total' is no curve: it varies over no dimension, or its elements are no scalars"
    )
    assert sentence(result) == "there is no curve to draw: no output varies over a dimension"
