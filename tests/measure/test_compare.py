"""`wb.compare`: interleaved runs, ratios, agreement, tables."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.measure.checking.test_check import broken, near_tie
from tests.measure.rounds.made import measurement, passed
from tests.programs import leaky_sum, returns, small_reinforce
from workbench.backends.arrays.compiled import CompiledArrays
from workbench.errors import OutOfMemoryError, WorkbenchError
from workbench.measure.compare import Comparison, compare, comparing, comparison
from workbench.measure.rounds.rounds import MeasureRequest
from workbench.transforms import Vectorize

QUICK: dict[str, Any] = {"backend": "numpy", "repeats": 2, "progress": False}


def made(base: list[float], other: list[float]) -> Comparison:
    """Two variants with these samples."""
    return comparison(
        {"A": measurement(*base), "B": measurement(*other, steps=("b",))},
    )


def variants() -> list[Any]:
    root = wb.variant(leaky_sum())
    return [root, root.apply(Vectorize("b")), root.apply(Vectorize("b")).apply(Vectorize("t"))]


# -- what is measured ------------------------------------------------------------------------------


def test_variants_are_run_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    whole = CompiledArrays.run

    def noted(self: CompiledArrays, sizes: Any, *rest: Any, **more: Any) -> Any:
        if sizes == {"B": 7, "T": 5}:  # the measured sizes, not those of the check
            order.append("B" if "for b in" in str(self.loop_program) else "A")
        return whole(self, sizes, *rest, **more)

    root = wb.variant(leaky_sum())
    both = [root.apply(Vectorize("b")), root]
    monkeypatch.setattr(CompiledArrays, "run", noted)
    compare(both, sizes={"B": 7}, repeats=3, warmup=2, progress=False, backend="numpy")
    assert "".join(order) == "AB" * 5


def test_each_variant_has_its_row_checked_and_compared() -> None:
    found = compare(variants(), sizes={"B": 5}, **QUICK)
    assert [row.name for row in found] == [
        "as written",
        "Vectorize('b')",
        "Vectorize('b'), Vectorize('t')",
    ]
    assert [m.checked for m in found.measurements] == [True] * 3
    assert [len(m.samples) for m in found.measurements] == [2] * 3
    assert found[0].ratio == 1.0 and found[0].difference == ""
    assert found[1].measurement.check.measured == "agrees with as written at the measured sizes"


def test_names_may_be_given_and_equal_ones_are_numbered() -> None:
    root = wb.variant(leaky_sum())
    assert [r.name for r in compare({"plain": root, "fast": root}, **QUICK)] == ["plain", "fast"]
    assert [r.name for r in compare([root, root], **QUICK)] == ["as written", "as written (2)"]


def test_program_stands_for_itself_under_the_automatic_recipe() -> None:
    program = leaky_sum()
    (row,) = compare([program], **QUICK)
    assert row.measurement.key == wb.optimize(wb.variant(program), backend="numpy").key


def test_variant_that_is_wrong_is_shown_as_failed_and_not_timed() -> None:
    found = compare([variants()[1], broken(leaky_sum(), "multiply", "add")], **QUICK)
    assert found[0].measurement.measured and not found[1].measurement.measured
    assert math.isnan(found[1].ratio)
    assert "FAILED" in repr(found) and "FAILED: s[" in found.frame["checked"].iloc[1]


def test_variant_that_is_wrong_at_the_measured_sizes_alone_is_shown_as_failed() -> None:
    """It passes where T is small, as a step with a mistake in its tails would."""
    right = wb.variant(returns(T=40))
    compiled = CompiledArrays.run

    def wrong(self: CompiledArrays, sizes: Any, *rest: Any, **more: Any) -> Any:
        done = compiled(self, sizes, *rest, **more)
        if sizes["T"] == 40 and "for b in" not in str(self.loop_program):
            done.outputs["mean"] = done.outputs["mean"] + 1.0
        return done

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(CompiledArrays, "run", wrong)
        found = compare([right, right.apply(Vectorize("b"))], **QUICK)
    assert [m.checked for m in found.measurements] == [True, False]
    reason = found[1].measurement.check.reason
    assert reason.startswith("at the measured sizes, in float64 too, mean is ")
    assert reason.endswith("by as written")


def test_float32_that_rounding_sets_apart_is_told_from_a_mistake_by_float64() -> None:
    root = wb.variant(near_tie(distance=1e-8))
    same = root.apply(Vectorize("t"))
    outputs = CompiledArrays.run

    def apart(
        self: CompiledArrays, sizes: Any, seed: int, dtype: str, *rest: Any, **more: Any
    ) -> Any:
        done = outputs(self, sizes, seed, dtype, *rest, **more)
        if (sizes["T"], dtype) == (50, "float32") and _is_of(self, same):
            done.outputs["threshold"] = done.outputs["threshold"] + 1.0
        return done

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(CompiledArrays, "run", apart)
        found = compare([root, same], sizes={"T": 50}, **QUICK)
    assert found[1].measurement.checked is True
    assert "in float32 rounding sets them apart" in found[1].measurement.check.measured


def _is_of(compiled: CompiledArrays, variant: wb.Variant) -> bool:
    return str(compiled.loop_program) == str(variant.loop_program)


def test_a_whole_training_step_agrees_with_itself() -> None:
    root = wb.variant(small_reinforce())
    found = compare([wb.optimize(root, backend="numpy"), root], sizes={"B": 4, "T": 6}, **QUICK)
    assert [m.checked for m in found.measurements] == [True, True]


def test_every_finished_round_gives_a_comparison_that_later_ones_do_not_change() -> None:
    request = MeasureRequest(sizes={"B": 5}, repeats=3, comparison="c", backend="numpy")
    rounds = list(comparing(variants(), request, False, request.backend))
    assert [so_far.rounds for so_far in rounds] == [0, 1, 2, 3]
    whole = rounds[-1].comparison()
    for so_far in rounds:
        found = so_far.comparison()
        assert [len(m.samples) for m in found.measurements] == [so_far.rounds] * 3
        assert [m.samples for m in found.measurements] == [
            m.samples[: so_far.rounds] for m in whole.measurements
        ]
        assert {(m.planned, m.comparison, m.date) for m in found.measurements} == {
            (3, "c", request.date)
        }
    assert [m.checked for m in rounds[0].comparison().measurements] == [True] * 3
    assert [m.unfinished for m in rounds[1].comparison().measurements] == ["1 of 3 rounds"] * 3
    assert [m.unfinished for m in whole.measurements] == [""] * 3


def test_what_cannot_be_timed_makes_no_rounds_but_is_told() -> None:
    request = MeasureRequest(repeats=3, backend="numpy")
    wrong = [broken(leaky_sum(), "multiply", "add")]
    (only,) = comparing(wrong, request, False, request.backend)
    (row,) = only.comparison()
    assert (only.rounds, row.measurement.checked, row.measurement.planned) == (0, False, 0)


@pytest.mark.parametrize(("which", "after"), [(0, 0), (1, 0), (1, 2)])
def test_variant_that_runs_out_of_memory_has_no_times_and_the_others_go_on(
    which: int, after: int
) -> None:
    """Before the outputs are compared; while they are sampled."""
    whole = CompiledArrays.run
    short = variants()[which]
    runs = 0

    def short_of_memory(self: CompiledArrays, sizes: Any, *rest: Any, **more: Any) -> Any:
        nonlocal runs
        if sizes == {"B": 7, "T": 5} and _is_of(self, short):
            runs += 1
            if runs > after:
                raise OutOfMemoryError("no room for x: 80 GB asked for, 1 GB free", "device")
        return whole(self, sizes, *rest, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(CompiledArrays, "run", short_of_memory)
        found = compare(variants(), sizes={"B": 7}, **QUICK)
    told = found[which].measurement
    assert told.stopped == "it stops: no room for x: 80 GB asked for, 1 GB free"
    assert (told.samples, told.peak_bytes, told.planned) == ((), {}, 0)
    assert found.frame["not_measured"].iloc[which] == told.stopped
    assert told.stopped in repr(found).replace("\n   ", " ")
    others = [row.measurement for k, row in enumerate(found) if k != which]
    assert [len(m.samples) for m in others] == [2, 2]
    assert [bool(m.check.measured) for m in others] == [False, True]


def test_what_float64_cannot_tell_for_want_of_memory_is_not_checkable() -> None:
    root = wb.variant(near_tie(distance=1e-8))
    same = root.apply(Vectorize("t"))
    outputs = CompiledArrays.run

    def apart(
        self: CompiledArrays, sizes: Any, seed: int, dtype: str, *rest: Any, **more: Any
    ) -> Any:
        if (sizes["T"], dtype) == (50, "float64"):
            raise OutOfMemoryError("no room for x", "device")
        done = outputs(self, sizes, seed, dtype, *rest, **more)
        if sizes["T"] == 50 and _is_of(self, same):
            done.outputs["threshold"] = done.outputs["threshold"] + 1.0
        return done

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(CompiledArrays, "run", apart)
        found = compare([root, same], sizes={"T": 50}, **QUICK)
    told = found[1].measurement
    assert told.check.verdict == "impossible"
    assert told.check.reason.endswith("a run in float64 would tell, which stops: no room for x")
    assert len(told.samples) == 2


# -- differences -----------------------------------------------------------------------------------


def test_ratio_that_may_be_one_is_no_measurable_difference() -> None:
    row = made([1.0, 1.2, 0.9, 1.1, 1.0], [1.1, 1.0, 1.0, 1.2, 0.9])[1]
    low, high = row.ratio_interval
    assert low <= 1.0 <= high
    assert row.difference == "no measurable difference"


def test_ratio_is_told_as_less_or_more() -> None:
    base = [1.0, 1.2, 0.9, 1.1, 1.0]
    assert made(base, [2 * x for x in base])[1].difference == "× 2"
    row = made(base[:1], [2 * base[0]])[1]
    assert row.difference == "× 2" and math.isnan(row.ratio_interval[0])
    assert ", 1 run" in str(made(base[:1], base[:1]))
    row = made(base, [0.25 * x for x in base])[1]
    assert (row.ratio, row.ratio_interval, row.difference) == (0.25, (0.25, 0.25), "÷ 4")


# -- tables ----------------------------------------------------------------------------------------


def test_table_is_readable_at_80_columns() -> None:
    base = [0.0123, 0.0125, 0.0121]
    long = tuple(f"dimension_{k}" for k in range(6))
    found = comparison(
        {
            "as written": measurement(*base),
            ", ".join(long): measurement(*(x / 3.4 for x in base), steps=long),
            "wrong": measurement(check=passed(verdict="failed", reason="loss is 1, not 2")),
            "slow": measurement(too_slow="a run would take about 5 minutes", predicted=None),
            "stopped": measurement(*base, planned=5, predicted=None),
            "large": measurement(stopped="it stops: out of memory", predicted=None),
        }
    )
    text = repr(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text == TABLE


TABLE = """\
walk on numpy: B=64, T=100, seed 0, float32; a processor, 2 of 2 cores

   time (95 %)          against the first         peak    checked
A  12.3 ms (12.1–12.5)                            4.1 kB  yes
   predicted 11 ms                                4.1 kB
B  3.62 ms (3.56–3.68)  ÷ 3.4 (3.4–3.4)           4.1 kB  yes
   predicted 11 ms                                4.1 kB
C                                                         FAILED
   predicted 11 ms                                4.1 kB
D                                                         yes
E  12.3 ms (12.1–12.5)  no measurable difference  4.1 kB  yes
F                                                         yes

A  as written
B  dimension_0, dimension_1, dimension_2, dimension_3, dimension_4, dimension_5
C  wrong
   FAILED: loss is 1, not 2
D  slow
   a run would take about 5 minutes
E  stopped
   3 of 5 rounds
F  large
   it stops: out of memory

force=True measures it all the same"""


def test_ends_of_an_interval_have_no_exponents() -> None:
    found = comparison(
        {"first": measurement(0.000669, 0.000769, 0.001032), "B": measurement(2.0, 2.0, 2.0)}
    )
    assert "769 µs (669–1032)" in repr(found)
    assert "769 µs<br><small>(669–1032)</small>" in found._repr_html_()
    assert "× 2601 (1938–2990)" in repr(found)
    assert "e+" not in repr(found) + found._repr_html_()


def test_html_holds_every_cell_and_escapes_names() -> None:
    text = comparison(
        {
            "<b>": measurement(0.01, 0.01),
            "B": measurement(0.02, 0.02, check=passed(verdict="failed", reason="x < y")),
        }
    )._repr_html_()
    assert "&lt;b&gt;" in text and "<b>" not in text
    assert "FAILED: x &lt; y" in text
    assert "× 2<br><small>(2–2)</small>" in text
    assert ">predicted</th>" in text and "11 ms<br>4.1 kB" in text
    assert text.count("<table>") == text.count("</table>") == 1


def test_numbers_in_html_stay_in_their_lines() -> None:
    found = comparison({"first": measurement(0.01, 0.01), "B": measurement(0.02, 0.02)})
    cells = found._repr_html_().split("<td")[1:]
    numbers = [cell for cell in cells if "×" in cell or " ms" in cell]
    assert len(numbers) >= 3
    assert all("white-space: nowrap" in cell for cell in numbers)
    assert all("<br>" in cell for cell in numbers if "(" in cell)
    titles = found._repr_html_().split("<th ")[2:]
    assert titles and all("white-space: nowrap" in title for title in titles)


def test_a_long_name_in_html_leaves_room_for_the_numbers() -> None:
    text = comparison({"a_name_of_one_word" * 5: measurement(0.01)})._repr_html_()
    cell = next(cell for cell in text.split("<td") if "a_name" in cell)
    assert "overflow-wrap: anywhere" in cell
    assert "max-width" in cell


def test_host_memory_has_a_column_where_there_is_some() -> None:
    first = measurement(0.01)
    swapped = replace(first, peak_bytes={"device": 1000, "host": 2_000_000})
    text = repr(comparison({"plain": first, "swapped": swapped}))
    assert "host" in text and "2 MB" in text
    assert "host" not in repr(comparison({"plain": first}))


def test_frame_has_a_row_for_each_variant() -> None:
    frame = made([0.01, 0.012, 0.011], [0.02, 0.024, 0.022]).frame
    assert list(frame.index) == ["A", "B"]
    assert list(frame["median_ms"]) == [11.0, 22.0]
    assert list(frame["ratio"]) == [1.0, 2.0]
    assert list(frame["peak_device_bytes"]) == [4096, 4096]
    assert list(frame["predicted_ms"]) == [11.0, 11.0]
    assert list(frame["checked"]) == ["yes", "yes"]


def test_recorded_measurements_stand_in_a_table_too() -> None:
    found = comparison({"then": measurement(0.01, recorded="there.jsonl")})
    assert found.frame["recorded"].iloc[0] == "there.jsonl"
    assert "recorded in there.jsonl" in repr(found)


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (list, "there is nothing to compare: the list of variants is empty"),
        (lambda: wb.variant(leaky_sum()), "expected a list of variants, found Variant"),
        (lambda: 5, "expected a list of variants, found int"),
        (lambda: ["x"], "expected a program, found 'x'; call the template first"),
        (
            lambda: [wb.variant(leaky_sum()), wb.variant(returns())],
            "only variants of one program can be compared, but the first is of leaky_sum, another "
            "of returns; use wb.measure for each",
        ),
        (
            lambda: [wb.variant(returns()), wb.variant(returns(gamma=0.5))],
            "only variants of one program can be compared, but these are of returns with other "
            "arguments; use wb.measure for each",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(given: Any, sentence: str) -> None:
    with pytest.raises(WorkbenchError) as refused:
        compare(given(), progress=False, backend="numpy")
    assert refused.value.message == sentence


def test_rounds_fit_the_time_unless_their_number_is_given() -> None:
    assert [MeasureRequest(backend="numpy").rounds(s) for s in (1e-6, 0.1, 10.0)] == [30, 20, 5]
    assert MeasureRequest(repeats=3, backend="numpy").rounds(1e-6) == 3
