"""The two checks of a variant in blocks: defects planted in what is generated, each found by the
check that can see it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.native_runs import shared_cache
from tests.programs import PROGRAMS
from workbench.backends import get
from workbench.backends.arrays import compiled as numpy_backend
from workbench.backends.native import compiled_program as native_backend
from workbench.measure.checking import check as module
from workbench.measure.checking.check import check
from workbench.measure.checking.report import Check, from_json
from workbench.transforms import Contract, Persist, Tile, Vectorize
from workbench.variants.variant import Variant

TAILS = [1, 15]


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    """Let what one test has planted be no answer to another."""
    module._checked.cache_clear()
    yield
    for function in (module._checked, module._as_written, module._on_numpy):
        function.cache_clear()


def persisted() -> Variant:
    return wb.variant(PROGRAMS["leaky_sum"][0]()).apply(Persist("b", 16)).apply(Contract())


def tiled() -> Variant:
    return wb.variant(PROGRAMS["leaky_sum"][0]()).apply(Tile("t", 16))


def plant(
    monkeypatch: pytest.MonkeyPatch, pattern: str, defect: str | Callable[[re.Match[str]], str]
) -> list[str]:
    """Replace what the pattern matches in generated source for NumPy; returns what was changed."""
    generate, planted = numpy_backend.generate, list[str]()

    def wrong(*given: Any, **options: Any) -> str:
        source = generate(*given, **options)
        planted.extend(re.findall(pattern, source))
        return re.sub(pattern, defect, source)

    monkeypatch.setattr(numpy_backend, "generate", wrong)
    return planted


def tails_of(found: Check) -> list[int]:
    return [run.sizes["B"] % 16 for run in found.tails]


# -- what is compared ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_variant_in_blocks_is_compared_twice(dtype: str) -> None:
    found = check(persisted(), "numpy", dtype)
    assert found.passed, found
    assert found.blocks == "in blocks of 3 instead of 16"
    assert found.sizes["B"] == 13
    assert [dict(run.sizes) for run in found.tails] == [{"B": 33, "T": 3}, {"B": 47, "T": 3}]
    for run in found.tails:
        assert [d.name for d in run.compared] == ["s", "last"]
        assert {d.tolerance for d in run.compared} == {1e-9}
    assert not found.unmet


def test_report_tells_both() -> None:
    found = check(persisted(), backend="numpy")
    quiet = replace(
        found,
        compared=tuple(replace(d, worst=1e-8) for d in found.compared),
        tails=tuple(
            replace(run, compared=tuple(replace(d, worst=2e-16) for d in run.compared))
            for run in found.tails
        ),
    )
    assert str(quiet).splitlines() == [
        "agrees with the reference at B=13, T=4 (float32)",
        "  compared: 78 elements of s, last; worst deviation 1e-08",
        "  in blocks of 3 instead of 16",
        "  in its own blocks, in float64, compared with NumPy's run of the program as written:",
        "    B=33, T=3 (two tiles of 16 and a tail of 1 along b): worst deviation 2e-16",
        "    B=47, T=3 (two tiles of 16 and a tail of 15 along b): worst deviation 2e-16",
    ]


def test_report_survives_json() -> None:
    found = check(persisted(), backend="numpy")
    record = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert from_json(record) == found
    for name in ("tails", "blocks", "covered"):
        del record[name]
    assert from_json(record) == replace(found, tails=(), blocks="", covered={})


def test_variant_without_blocks_is_compared_with_the_reference_alone() -> None:
    found = check(wb.variant(PROGRAMS["leaky_sum"][0]()).apply(Vectorize("b")), backend="numpy")
    assert (found.blocks, found.tails) == ("", ())


# -- defects ---------------------------------------------------------------------------------------


def test_wrong_tail_of_one_less_than_a_tile_is_found_in_its_own_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In blocks of 3 the tails at check sizes have one value."""
    pattern = r"( +)add\(s_4_v, x_v, out=(\w+)\)"
    defect = r"\g<0>\n\1\2[-1] += len(s_4_v) == 15"
    assert plant(monkeypatch, pattern, defect) == []
    found = check(persisted(), backend="numpy")
    assert found.verdict == "failed"
    assert found.compared and all(d.agrees for d in found.compared)
    assert tails_of(found) == TAILS
    right, wrong = found.tails
    assert not right.reason
    assert wrong.reason.startswith("s[46, 3] is ")
    where = "in its own blocks, at B=47, T=3 in float64: s[46, 3] is "
    assert found.reason.startswith(where)
    head = f"does not agree with NumPy's run of the program as written: {where}"
    assert str(found).startswith(head)
    assert from_json(found.to_json()) == found


def test_wrong_tail_of_one_value_is_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is seen by neither where blocks of 3 are full: the first check has a tail of one."""
    plant(monkeypatch, r"( +)add\(s_4_v, x_v, out=(\w+)\)", r"\g<0>\n\1\2[-1] += len(s_4_v) == 1")
    found = check(persisted(), backend="numpy")
    assert (found.verdict, found.tails) == ("failed", ())
    assert str(found).startswith("does not agree with the reference at B=13, T=4: s[12, 3] is ")


def test_wrong_full_block_of_its_own_size_is_found_in_its_own_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch, r"( +)add\(s_4_v, x_v, out=(\w+)\)", r"\g<0>\n\1\2[-1] += len(s_4_v) == 16")
    found = check(persisted(), backend="numpy")
    assert (found.verdict, tails_of(found)) == ("failed", TAILS[:1])


def test_wrong_value_behind_a_block_is_found_in_blocks_of_three(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a block hands on to the next is lost, as a window too small would lose it. The check
    sizes of the program as written have no more than one block of 16.
    """
    pattern = r"( +)(multiply\(\w+, s_v\w*, out=(\w+)\))"
    defect = r"\1\2\n\1if t and not t % TILE: \3[...] = 0.0"
    generate = numpy_backend.generate

    def wrong(*given: Any, **options: Any) -> str:
        source = generate(*given, **options)
        tile = re.search(r"range\(\(T \+ \d+\) // (\d+)\)", source)
        return source if tile is None else re.sub(pattern, defect, source).replace("TILE", tile[1])

    monkeypatch.setattr(numpy_backend, "generate", wrong)
    root = wb.variant(PROGRAMS["leaky_sum"][0]())
    sizes = check(root, backend="numpy").sizes
    assert sizes["T"] < 16
    source = get("numpy").compile(tiled().program).source
    assert "if t and not t % 16: " in source
    found = check(tiled(), backend="numpy")
    assert (found.verdict, found.tails) == ("failed", ())
    assert found.blocks == "in blocks of 3 instead of 16"
    assert re.match(r"s\[\d, 4\] is ", found.reason)


def test_equations_that_a_step_has_spoiled_in_a_tail_are_found() -> None:
    """Every backend computes these alike: the measure is the program as written, not NumPy's run of
    the same variant.
    """

    @wb.program
    def spoiled(B: int = 2, T: int = 5, n: int = 1000) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        s = wb.recurrent("s", (), over=(b, t))
        s[b, 0] = wb.uniform(over=b)
        s[b, t + 1] = 0.5 * s + wb.where(wb.index(b) < n, 0.0, 1.0)
        return {"s": s}

    wrong = wb.variant(spoiled(n=46)).apply(Persist("b", 16)).program
    found = check(Variant(wrong, wb.variant(spoiled()), Persist("b", 16)), backend="numpy")
    assert (found.verdict, tails_of(found)) == ("failed", TAILS)
    assert "at B=47, T=3 in float64: s[46, " in found.reason


def test_run_that_stops_in_its_own_blocks_fails_with_its_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(
        monkeypatch,
        r"( +)add\(s_4_v, x_v, out=(\w+)\)",
        r'\g<0>\n\1if len(s_4_v) == 15: memory.allocate("gone", (1 << 50,), real)',
    )
    found = check(persisted(), backend="numpy")
    assert found.verdict == "failed"
    assert "in its own blocks, at B=47, T=3 in float64: it stops: " in found.reason


def test_wrong_tail_of_compiled_c_is_found_in_its_own_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    units_of = native_backend.units_of

    def wrong(*given: Any) -> Iterator[tuple[str, str]]:
        right = dict(units_of(*given))
        lanes = r"(store_some_v[fd]\(s \+ \(B \* \(t \+ 1\) \+ b_2\), 1, lanes)"
        defect = r"\1 - (behind_b_2 - first_b_2 == 15)"
        units = {name: re.sub(lanes, defect, unit) for name, unit in right.items()}
        assert units != right
        yield from units.items()

    monkeypatch.setattr(native_backend, "units_of", wrong)
    with shared_cache():
        found = check(persisted(), "native")
    assert found.verdict == "failed"
    assert tails_of(found) == TAILS
    assert found.reason.startswith("in its own blocks, at B=47, T=3 in float64: s[46, ")
