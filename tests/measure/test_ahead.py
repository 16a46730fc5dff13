"""What no program changes begins before one is planned."""

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from workbench.backends.native.backend import NativeBackend

pytestmark = pytest.mark.nothing_compiled

CALLS: list[Callable[..., Any]] = [wb.run, wb.measure, wb.profile]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_runtime_is_begun_before_the_program_is_compiled(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    events = []

    def noted(name: str) -> Callable[..., Any]:
        original = getattr(NativeBackend, name)

        def note(*given: Any) -> Any:
            events.append(name)
            return original(*given)

        return note

    for name in ("prepare_ahead", "compile"):
        monkeypatch.setattr(NativeBackend, name, noted(name))
    call(PROGRAMS["leaky_sum"][0](), "native", progress=False)
    assert events[:2] == ["prepare_ahead", "compile"]
