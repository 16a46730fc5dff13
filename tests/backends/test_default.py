"""The default backend: compiled C where there is a C compiler, else NumPy."""

import io
from contextlib import redirect_stderr

import pytest

import workbench as wb
from tests.conftest import BACKENDS
from tests.native_runs import shared_cache
from tests.programs import leaky_sum
from workbench.measure.runs.progress import title

pytestmark = pytest.mark.usefixtures("default_backend")


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names a compiler that is not there."""
    monkeypatch.setenv("CC", "no-such-compiler")


def test_compiled_c_is_the_default_where_there_is_a_compiler() -> None:
    assert BACKENDS.default() == "native"


@pytest.mark.usefixtures("no_compiler")
def test_numpy_is_the_default_without_a_compiler() -> None:
    assert BACKENDS.default() == "numpy"


def run() -> tuple[wb.Result, str]:
    """A run that names no backend, and the line of its progress."""
    said = io.StringIO()
    with redirect_stderr(said), shared_cache():
        result = wb.run(leaky_sum(), threads=1)
    return result, said.getvalue()


def test_run_says_on_which_backend_it_was() -> None:
    result, said = run()
    assert result.backend == "native"
    assert "leaky_sum on native: " in said
    named = wb.run(leaky_sum(), "numpy", progress=False)
    assert [*named] == [*result]


@pytest.mark.usefixtures("no_compiler")
def test_run_says_why_it_was_not_compiled() -> None:
    result, said = run()
    assert result.backend == "numpy"
    assert "leaky_sum on numpy (no C compiler: CC=no-such-compiler names a" in said
    assert title("leaky_sum", "numpy", 1) == "leaky_sum on numpy"  # as asked: nothing to say


def of_calls() -> dict[str, str]:
    """The backend of each call that takes one and is given none."""
    root = wb.variant(leaky_sum())
    with shared_cache():
        return {
            "predict": root.predict().backend,
            "optimize": "native" if "Persist" in str(wb.optimize(root).steps) else "numpy",
            "measure": wb.measure(root, repeats=1, progress=False).backend,
            "compare": wb.compare([root], repeats=1, progress=False).measurements[0].backend,
            "profile": wb.profile(root, progress=False).backend,
        }


def test_all_that_take_a_backend_take_the_same() -> None:
    assert set(of_calls().values()) == {"native"}


@pytest.mark.usefixtures("no_compiler")
def test_all_that_take_a_backend_take_numpy_without_a_compiler() -> None:
    assert set(of_calls().values()) == {"numpy"}
