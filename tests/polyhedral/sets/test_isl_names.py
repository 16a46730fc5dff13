import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.polyhedral.sets.isl_names import dim_name, readable, size_name, user_name

AWKWARD = ["min", "exists", "NaN", "γ", "a.b", "_x3b3_", "x_x", "t'", "infty", "d_t", "t 2"]


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_name_survives_isl(name: str) -> None:
    dim, size = dim_name(name), size_name(name)
    text = f"[{size}] -> {{ [{dim}] : 0 <= {dim} < {size} }}"
    points = isl.Set(text)
    assert not points.is_empty()
    assert user_name(points.get_dim_name(isl.dim_type.set, 0)) == name
    assert readable(str(points)) == f"[{name}] -> {{ [{name}] : 0 <= {name} < {name} }}"


@given(st.text(min_size=1))
def test_names_are_injective(name: str) -> None:
    assert user_name(dim_name(name)) == name
    assert dim_name(name).replace("_", "a").isalnum() and dim_name(name).isascii()


def test_readable_text_has_the_users_names_behind_factors_too() -> None:
    assert readable("[p_T] -> { [d_t] : 3d_t <= 2 + 4p_T }") == "[T] -> { [t] : 3t <= 2 + 4T }"
