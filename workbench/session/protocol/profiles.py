"""Profiles as records that views read."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping

from workbench.measure.profile import Profile
from workbench.measure.profiles.course import Span
from workbench.measure.profiles.parts import KEYS, PYTHON
from workbench.session.protocol.state import (
    CourseView,
    LaneView,
    PeaksView,
    ProfileRowView,
    ProfileView,
)


def profile_view(profile: Profile) -> ProfileView:
    """Describe a profile."""
    variant, most = profile.variant, profile.peaks
    return ProfileView(
        id=_name(profile),
        variant=variant.key,
        label=", ".join(map(str, variant.steps)) or "as written",
        backend=profile.backend,
        threads=profile.threads,
        device=profile.device,
        dtype=profile.dtype,
        sizes=dict(profile.sizes),
        seed=profile.seed,
        date=profile.date,
        seconds=profile.seconds,
        untimed_seconds=profile.untimed_seconds,
        predicted_seconds=sum(profile.predicted.values()) if profile.predicted else None,
        summary=profile.summary,
        rounds=profile.rounds,
        planned=profile.planned,
        peaks=None
        if most is None
        else PeaksView(
            most.flops_per_second,
            most.nearest_bytes_per_second,
            most.farthest_bytes_per_second,
        ),
        course=_course(profile),
        scopes=_rows(profile, "scope"),
        kernels=_rows(profile, "kernel") if profile.kernels else (),
        statements=_rows(profile, "statement"),
    )


def _rows(profile: Profile, what: str) -> tuple[ProfileRowView, ...]:
    key, scopes = KEYS[what], profile.scopes(what)
    statements: dict[str, dict[str, None]] = {}
    rows_of_statement: dict[str, set[str]] = {}
    for part in profile.parts:
        row = key(part)
        statements.setdefault(row, {})[part.statement] = None
        rows_of_statement.setdefault(part.statement, set()).add(row)
    alone = {statement for statement, rows in rows_of_statement.items() if len(rows) == 1}
    return tuple(
        ProfileRowView(
            name=row.name,
            scope=scopes[row.name],
            statements=tuple(name for name in statements[row.name] if name != PYTHON),
            seconds=row.seconds,
            calls=row.calls,
            flops=row.flops,
            bytes=row.bytes,
            bytes_peak=None if math.isnan(row.bytes_peak) else row.bytes_peak,
            predicted=_predicted(profile.predicted, statements[row.name].keys(), alone),
            approximate=row.approximate,
            uncertain=row.uncertain,
        )
        for row in profile.by(what)
    )


def _course(profile: Profile) -> CourseView | None:
    """Describe the course of its first iterations; numbers are written one behind the other."""
    found = profile.course
    if found is None:
        return None
    what = "kernel" if profile.kernels else "statement"
    scopes = profile.scopes(what)
    statements: dict[str, dict[str, None]] = {}
    for part in profile.parts:
        if part.statement != PYTHON:
            statements.setdefault(KEYS[what](part), {})[part.statement] = None
    lanes = tuple(
        LaneView(
            name=lane.place.name,
            is_loop=lane.place.is_loop,
            depth=lane.place.depth,
            scope="" if lane.place.is_loop else scopes.get(lane.place.name, ""),
            statements=() if lane.place.is_loop else tuple(statements.get(lane.place.name, {})),
            share=lane.share,
            spans=tuple(n for span in lane.spans for n in _numbers(span)),
        )
        for lane in found.lanes
    )
    held = tuple(number for step in found.held for number in step)
    return CourseView(found.seconds, found.tick, found.whole, lanes, held)


def _numbers(span: Span) -> tuple[int, int, int, int, int]:
    long = -1 if span.predicted is None else round(span.predicted)
    return span.begin, span.end, span.count, round(1000 * span.busy), long


def _predicted(
    predicted: Mapping[str, float], statements: Iterable[str], alone: set[str]
) -> float | None:
    """Return the predicted seconds of statements, None where other rows have a part in one."""
    names = set(statements)
    if not predicted or not names <= alone:
        return None
    return sum(predicted.get(name, 0.0) for name in names)


def _name(profile: Profile) -> str:
    """Return the name of a run: the same variant, place, sizes, seed and dtype."""
    run = [profile.variant.key, profile.backend, profile.threads, profile.device, profile.dtype]
    content = [*run, dict(profile.sizes), profile.seed]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
