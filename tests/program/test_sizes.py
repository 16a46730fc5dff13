from __future__ import annotations

import pytest

from workbench.errors import SizeError, SourceLine
from workbench.polyhedral.expression import size
from workbench.program.sizes import resolve
from workbench.program.values import Equations, Parameter

LINE = SourceLine("ppo.py", 7, "    K = wb.size(B * T // M)")


def equations(exact: bool = True) -> Equations:
    B, T, M = size("B"), size("T"), size("M")
    parameters = (
        Parameter("B", 4),
        Parameter("T", 128),
        Parameter("M", 4),
        Parameter("K", 0, B * T // M, exact, LINE),
        Parameter("L", 0, size("K") + 1),
    )
    return Equations("ppo", parameters, (), (), (), ())


def refused(given: dict[str, object], exact: bool = True) -> str:
    with pytest.raises(SizeError) as error:
        resolve(equations(exact), given)  # type: ignore[arg-type]
    return str(error.value)


def test_what_is_no_mapping_refused() -> None:
    assert refused([3]) == "sizes [3]; expected sizes by name, like {'T': 128}"  # type: ignore[arg-type]


def test_defaults_and_derived_sizes() -> None:
    assert resolve(equations()) == {"B": 4, "T": 128, "M": 4, "K": 128, "L": 129}


def test_overrides_reach_derived_sizes() -> None:
    assert resolve(equations(), {"T": 8, "M": 2}) == {
        "B": 4,
        "T": 8,
        "M": 2,
        "K": 16,
        "L": 17,
    }


def test_inexact_division_rounds_down() -> None:
    assert resolve(equations(exact=False), {"M": 3})["K"] == 170


def test_derived_size_refused_when_it_does_not_divide() -> None:
    message = refused({"M": 3})
    assert "K = B * T // M: 512 does not divide by 3 (B=4, T=128, M=3)" in message
    assert "K = wb.size(B * T // M)    (ppo.py, line 7)" in message


def test_derived_size_refused_when_not_positive() -> None:
    expected = "K = B * T // M is 0 (B=4, T=128, M=1000); a size must be positive"
    assert expected in refused({"M": 1000}, exact=False)


def test_derived_size_refused_when_given() -> None:
    expected = "size K = B * T // M is derived and cannot be given; give B, M or T instead"
    assert expected in refused({"K": 3})


@pytest.mark.parametrize("value", [0, -3])
def test_size_refused_when_not_positive(value: int) -> None:
    assert refused({"T": value}) == f"size T must be a positive integer, found {value}"


@pytest.mark.parametrize("value", [2.0, True, "3"])
def test_size_refused_when_not_an_integer(value: object) -> None:
    assert refused({"T": value}) == f"size T must be a positive integer, found {value!r}"


def test_unknown_size_refused_with_the_nearest_name() -> None:
    assert refused({"t": 3}) == "unknown size 't': did you mean T? (sizes: B, T, M, K, L)"
