"""Loading: each library once, a damaged one anew."""

from pathlib import Path

import pytest

from tests.backends.native.building.pretending import FakeCompiler
from tests.backends.native.building.small_units import EXPORT, HEADERS, UNITS
from workbench.backends.native.building.build import build
from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.compilers import Compiler
from workbench.backends.native.building.load import load
from workbench.errors import WorkbenchError

pytestmark = pytest.mark.nothing_compiled


def counting(start: int) -> Unit:
    """A unit with a state, by which one loaded library is told from another."""
    return Unit("counter", f"static int n = {start}; {EXPORT} int count(void) {{ return n++; }}")


def test_library_is_loaded_once(compiler: Compiler) -> None:
    first, functions = load([counting(5)], compiler)
    again, same = load([counting(5)], compiler)
    assert (first.cached, again.cached) == (False, True)
    assert [functions.count(), same.count(), functions.count()] == [5, 6, 7]
    _, other = load([counting(50)], compiler)
    assert [other.count(), same.count()] == [50, 8]


@pytest.mark.parametrize("damage", ["", "no library", None])
def test_damaged_library_is_built_anew(compiler: Compiler, damage: str | None) -> None:
    library = build(UNITS, compiler, HEADERS)
    whole = library.path.read_bytes()
    library.path.write_bytes(whole[:100] if damage is None else damage.encode())
    again, functions = load(UNITS, compiler, HEADERS)
    assert not again.cached
    assert again.compiled == ()  # the objects are there
    assert again.path == library.path
    assert functions.call is not None


def test_library_that_the_system_does_not_load_is_refused(fake: FakeCompiler) -> None:
    with pytest.raises(
        WorkbenchError, match=r"compiled code cannot be loaded \(.*: file too short"
    ):
        load([Unit("empty", "")], fake('touch "$out"'))


def test_library_that_is_removed_while_it_is_found_is_built_anew(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(UNITS, compiler, HEADERS)
    real = Path.stat

    def removed(path: Path, **named: bool) -> object:
        status = real(path, **named)
        if path.parent.name == "libraries":
            path.unlink()
        return status

    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", removed)
        library = build(UNITS, compiler, HEADERS)
    assert library.cached
    assert not library.path.exists()
    assert load(UNITS, compiler, HEADERS)[0].path.exists()
