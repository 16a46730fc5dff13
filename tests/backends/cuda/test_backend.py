"""The CuPy table without a GPU: NumPy stands in, so names and arguments are at least right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.backends.small_programs import cases, scheduled
from tests.environments.playing import choice, restarting
from workbench.backends.arrays.compiled import compile_arrays
from workbench.backends.cuda.backend import CudaBackend, cupy_functions
from workbench.backends.numpy import NumPyBackend
from workbench.environments import Gymnasium
from workbench.errors import UnavailableError


class LikeCuPy:
    """NumPy with CuPy's names for moving arrays."""

    asnumpy = staticmethod(np.asarray)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


@pytest.mark.parametrize(("name", "p", "all_axes"), list(cases()), ids=[c[0] for c in cases()])
def test_same_source_with_other_functions_gives_the_same(name: str, p: Any, all_axes: Any) -> None:
    xp = LikeCuPy()
    for axes in all_axes:
        program = scheduled(p, axes)
        ours = NumPyBackend().compile(program)
        theirs = compile_arrays(program, xp, cupy_functions(xp))
        assert theirs.source == ours.source
        left, right = (c.run(seed=5, dtype="float64").outputs for c in (ours, theirs))
        for key in left:
            np.testing.assert_allclose(right[key], left[key], rtol=1e-12, atol=1e-12)


def test_external_objects_are_called_with_arrays_of_the_host() -> None:
    xp = LikeCuPy()
    program = restarting(Gymnasium("CartPole-v1"), choice(2), I=1, T=5)
    ours = NumPyBackend().compile(program).run()
    theirs = compile_arrays(program, xp, cupy_functions(xp)).run()
    for name in ours.outputs:
        assert theirs.outputs[name].tobytes() == ours.outputs[name].tobytes()


def test_cuda_says_why_it_cannot_run() -> None:
    backend = CudaBackend()
    reason = backend.unavailable()
    if reason is None:
        pytest.skip("there is a GPU")
    assert "CuPy" in reason or "GPU" in reason
    with pytest.raises(UnavailableError, match="cuda: "):
        backend.compile(scheduled(next(cases())[1]))
