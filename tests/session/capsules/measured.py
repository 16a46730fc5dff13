"""Variants that were measured: their code, cost, sweeps, memory and measurements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import workbench as wb
from tests.measure.rounds.made import measurement, passed
from tests.returns import returns
from workbench.backends.timed.peaks import Peaks
from workbench.backends.timed.stamps import Logged, TimedIteration, TimedLaunch
from workbench.measure.compare import comparison
from workbench.measure.profile import Profile
from workbench.measure.profiles.course import Place
from workbench.measure.profiles.parts import PYTHON, Division, KernelTime, Part
from workbench.measure.rounds.measurement import Measurement
from workbench.measure.runs.curves import Curve
from workbench.session.parts.code import code, kernel, kernels
from workbench.session.parts.cost import cost
from workbench.session.parts.memory import memory
from workbench.session.parts.runs import runs
from workbench.session.parts.sweep import sweep
from workbench.session.protocol.capsule import Capsule, SavedPart
from workbench.session.protocol.measurements import measurement_views
from workbench.session.protocol.messages import PROTOCOL
from workbench.session.protocol.messages import Part as PartName
from workbench.session.protocol.profiles import profile_view
from workbench.session.protocol.state import BackendView, CurveView, RunView, State
from workbench.session.protocol.state_views import end_views, size_views, variant_view
from workbench.transforms import Contract, Vectorize
from workbench.variants.variant import Variant

RUN: dict[str, Any] = {"sizes": {}, "backend": "numpy", "dtype": "float32"}
PARTS: Mapping[PartName, tuple[Callable[..., Any], dict[str, Any]]] = {
    "code": (code, {"backend": "numpy"}),
    "cost": (cost, RUN),
    "sweep": (sweep, {**RUN, "size": "T"}),
    "runs": (runs, {**RUN, "repeats": None, "pace": None}),
    "memory": (memory, {"sizes": {}, "backend": "numpy", "dtype": "float32"}),
}

COMPILED = {"backend": "native", "dtype": "float32"}


def variants() -> tuple[Variant, ...]:
    """As written; two steps; a branch."""
    root = wb.variant(returns())
    one = root.apply(Vectorize("b"))
    return root, one, one.apply(Contract()), root.apply(Contract())


def measurements(shown: tuple[Variant, ...]) -> tuple[Measurement, ...]:
    """Made up: two that were compared with one that is wrong and one too slow; one from
    elsewhere.
    """
    root, one, two, branch = shown
    times = (0.0042, 0.0041, 0.0043, 0.0040, 0.0042)
    curve = Curve("mean", "i", 1, (0.5, math.nan, 0.75, 1.0))

    def of(variant: Variant, *samples: float, **changed: Any) -> Measurement:
        made_up = measurement(*samples, key=variant.key, sizes={"B": 3, "T": 7}, comparison="c1")
        made_up = replace(made_up, program="returns", steps=tuple(variant.to_json()))
        return replace(made_up, curves=(curve,) if samples else (), **changed)

    return (
        of(root, *times),
        of(one, *(t / 2 for t in times), peak_bytes={"device": 2048, "host": 512}),
        of(two, check=passed(verdict="failed", reason="to_go at b=1, t=3 is 0.5, expected 0.25")),
        of(branch, too_slow="not measured, since a run would take about 90 s"),
        of(root, *times[:3], planned=5, comparison="c2", date="2026-01-01T03:04:05+00:00"),
        of(
            branch, stopped="it stops: no room for to_go: 80 GB asked for", comparison="c2",
            date="2026-01-01T03:04:05+00:00",
        ),
        of(
            one, 0.0001, 0.00011, 0.0001, comparison="", backend="cuda", device="NVIDIA H200",
            recorded="measured-elsewhere.jsonl",
        ),
    )  # fmt: skip


def profiles(shown: tuple[Variant, ...]) -> tuple[Profile, ...]:
    """Made up: one on compiled C, of whose kernels one is divided in a way that is uncertain; two
    on NumPy, where a sum takes longer before a step than after it.
    """
    root, one, two, _ = shown
    divided = KernelTime("kernel_g", 4, 0.004, Division(0.004, 0.006))
    alone = KernelTime("kernel_to_go", 8, 0.002)

    def of(variant: Variant, *parts: Part, **changed: Any) -> Profile:
        made_up = Profile(
            variant=variant, backend="numpy", device="a processor", threads=1,
            sizes={"B": 3, "T": 7}, seed=0, dtype="float32", parts=parts,
            untimed_seconds=0.0101, date="2026-01-02T03:04:05+00:00",
            predicted={part.statement: part.seconds / 2 for part in parts},
        )  # fmt: skip
        return replace(made_up, **changed)

    def part(statement: str, scope: str, seconds: float, kernel: str = "", entry: int = 0) -> Part:
        return Part(kernel, entry, statement, scope, seconds, 8, 4e6 * entry, 1e6)

    between = Part(PYTHON, 0, PYTHON, PYTHON, 0.001, 8)
    loop = Place("t", 0, 0, is_loop=True)
    places = (loop, Place("kernel_g", 1, 0, bytes=400), Place("kernel_to_go", 1, 1, bytes=900))
    log: list[Logged] = []
    for turn in range(3):
        begin = 0.002 * turn
        log += [
            TimedIteration(0, turn, begin),
            TimedLaunch(0, begin, begin + 0.001),
            TimedLaunch(1, begin + 0.001, begin + 0.002),
        ]
    return (
        of(
            root,
            part("g", "acting", 0.004, entry=1),
            part("to_go", "learning", 0.005, entry=2),
            between,
        ),
        of(
            one,
            part("g", "acting", 0.004, entry=1),
            part("to_go", "learning", 0.001),
            between,
        ),
        of(
            two,
            part("g", "acting", 0.003, "kernel_g", 1),
            part("reward", "learning", 0.001, "kernel_g", 1),
            part("to_go", "learning", 0.002, "kernel_to_go", 4),
            between,
            backend="native", kernels=(divided, alone), threads=2,
            peaks=Peaks(2e10, {1 << 14: 2e10, 1 << 26: 5e9}, 2),
            log=tuple(log), places=places, names=("kernel_g", "kernel_to_go"), rounds=2, planned=5,
        ),
    )  # fmt: skip


def ran(shown: tuple[Variant, ...]) -> tuple[RunView, ...]:
    """Made up: a whole run, and one that was stopped."""
    root, one, _, _ = shown
    whole = RunView(
        id="whole", variant=root.key, label="as written", backend="numpy", threads=1,
        dtype="float32", sizes={"B": 3, "T": 7}, seed=0, date="2026-01-02T03:04:05+00:00",
        completed=4, total=4, counted="update", seconds=0.5, compile_seconds=0.25,
        environment_steps=2000, peak_bytes={"device": 2048, "host": 0},
        lengths={},
        curves=(
            CurveView("loss", "i", 1, (1.0, 0.5, None, 0.25)),
            CurveView("episode_return", "i", 1, (None, 12.0, 20.0, 32.5)),
        ),
        failed="",
    )  # fmt: skip
    stopped = replace(
        whole, id="stopped", variant=one.key, label="Vectorize('b')", completed=2,
        curves=tuple(replace(curve, values=curve.values[:2]) for curve in whole.curves),
    )  # fmt: skip
    return whole, stopped


def state(shown: tuple[Variant, ...]) -> State:
    """The second variant is shown, the last one has a name."""
    root = shown[0]
    names = {shown[3].key: "folded <b>only</b>"}
    return State(
        workbench="golden",
        revision=1,
        name=root.program.name,
        root=root.key,
        current=shown[1].key,
        variants=tuple(variant_view(v, n, names.get(v.key, "")) for n, v in enumerate(shown)),
        sizes=size_views(root),
        ends=end_views(root),
        measurements=measurement_views(measurements(shown)),
        runs=ran(shown),
        result="stopped",
        profiles=tuple(map(profile_view, profiles(shown))),
        backends=(BackendView("numpy", ""), BackendView("cuda", "there is no GPU here")),
        backend="numpy",
        arguments=(),
        measuring=None,
        unrun=None,
        unprofiled=None,
        error=None,
        recipe_error=None,
        taken_over="",
    )


def compiled(variant: Variant) -> tuple[SavedPart, ...]:
    """The kernels of a variant, and the text of each; what they say of this machine is left out."""
    listed = replace(kernels(variant, COMPILED), remark="")
    names = [one.name for one in listed.kernels]
    run = [{**COMPILED, "name": name} for name in names]
    return (
        SavedPart("kernels", variant.key, COMPILED, listed),
        *(SavedPart("kernel", variant.key, named, kernel(variant, named)) for named in run),
    )


def capsule() -> Capsule:
    """Everything, with predictions of no measured machine."""
    shown = variants()
    with patch("workbench.planning.machine.calibrated.file_of", lambda backend: Path("nowhere")):
        parts = tuple(
            SavedPart(part, variant.key, arguments, build(variant, arguments))
            for variant in shown
            for part, (build, arguments) in PARTS.items()
        )
    kernels_of = (part for variant in shown[:2] for part in compiled(variant))
    return Capsule(PROTOCOL, "golden", state(shown), (*parts, *kernels_of))


def rows() -> list[dict[str, Any]]:
    """The first comparison as `wb.compare` gives its rows."""
    first = [m for m in measurements(variants()) if m.comparison == "c1"]
    names = [view.name for view in state(variants()).variants]
    return comparison(dict(zip(names, first, strict=True))).records()
