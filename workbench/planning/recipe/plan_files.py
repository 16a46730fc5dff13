"""Files of plans in the user's cache directory, by program and aim: steps with their reasons.

What a file says is only tried: each step is checked as if it were new, and a file of which one step
is not legal, or that cannot be read, is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench import cache_files
from workbench.errors import WorkbenchError
from workbench.folders import cache_directory
from workbench.planning.recipe.aim import Aim
from workbench.planning.recipe.plan import Plan
from workbench.processor import core_cache
from workbench.program.values import Program
from workbench.transforms.step.step_json import from_json

LIMIT = 10**7
"""The bytes that the files may have together: a plan of a few steps has about one thousand."""

PACKAGE = Path(__file__).parents[2]
"""The folder of the installed sources."""

ROOMS = ("polyhedral", "program", "lowering", "codegen", "transforms", "planning")
"""The packages whose code decides on a plan."""


WRONG = (WorkbenchError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""The errors of reading a file that is not of a plan, and of taking its steps."""


@dataclass(frozen=True, eq=False)
class AskedSizes(Mapping[str, int]):
    """Sizes that know which of them were asked for: no other has a say in what was made by them."""

    sizes: Mapping[str, int]
    asked: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> int:
        self.asked[name] = self.sizes[name]
        return self.sizes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class PlanFiles:
    """The folder of a program's plans for an aim: a file for each choice of the sizes that matter.

    Other processes may write and remove the same files at any moment.
    """

    place: Path

    @classmethod
    def of(cls, program: Program, aim: Aim) -> PlanFiles:
        """Return the folder by all that a plan is made of, but for the sizes."""
        made_of = {
            "code": code_key(),
            "program": program.canonical,
            "storage": asdict(program.storage),
            "objective": aim.objective,
            "capacity": aim.capacity,
            "machine": asdict(aim.machine),
            "cache": core_cache().bytes,
            "dtype": aim.dtype,
            "threads": aim.threads,
        }
        return cls(folder() / _digest(made_of))

    def find(self, program: Program, sizes: Mapping[str, int]) -> Plan | None:
        """Return a stored plan for these sizes, each of its steps taken; None where there is none.

        A file that holds none, or one that is not legal, is removed.
        """
        for path in self._paths():
            try:
                record = json.loads(path.read_text(encoding="utf-8"))
                if dict(record["sizes"]) != {name: sizes[name] for name in record["sizes"]}:
                    continue
                plan = Plan(program)
                for step, why in _steps(record):
                    plan = plan.after(from_json(step), why)
            except OSError:  # another process removed it
                continue
            except WRONG:
                with contextlib.suppress(OSError):
                    path.unlink()
                continue
            cache_files.mark_used(path)
            return plan
        return None

    def keep(self, plan: Plan, sizes: Mapping[str, int]) -> None:
        """Store a plan, with the sizes that matter for it. It is not stored where the folder cannot
        be written: `workbench doctor` says so.
        """
        steps = [{"step": taken.step.to_json(), "why": taken.why} for taken in plan.taken]
        text = json.dumps({"sizes": dict(sizes), "steps": steps}, indent=1) + "\n"
        with contextlib.suppress(OSError):
            with cache_files.writing(self.place / f"{_digest(dict(sizes))}.json") as file:
                file.write(text.encode("utf-8"))
            evict()

    def _paths(self) -> list[Path]:
        try:
            return sorted(self.place.glob("[!.]*.json"))
        except OSError:
            return []


def folder() -> Path:
    """Return the folder of all plans, which need not be there."""
    return cache_directory().absolute() / "recipes"


def held_bytes() -> int:
    """Return the bytes of all plans."""
    return cache_files.held_bytes(cache_files.files_in(folder()))


def why_not_kept() -> str | None:
    """Return the system's words why plans cannot be kept in the folder, or None where they can."""
    return cache_files.why_not_written(folder())


def evict() -> None:
    """Remove the plans that were not used for longest until the rest has at most `LIMIT` bytes."""
    for path in cache_files.evict(cache_files.files_in(folder()), LIMIT, in_use=0.0):
        with contextlib.suppress(OSError):  # the folder has other plans
            path.parent.rmdir()


def clear() -> int:
    """Remove all plans; return the bytes that they had.

    Raises WorkbenchError where some cannot be removed.
    """
    return cache_files.remove(cache_files.files_in(folder()), folder())


@lru_cache(maxsize=1)
def code_key() -> str:
    """Return a digest of the code that decides on a plan: of each source its size and time of
    change, by which Python itself decides whether what it compiled of the source still holds.
    """
    sources = {
        str(path): (status.st_size, status.st_mtime_ns)
        for path, status in cache_files.files_in(*(PACKAGE / room for room in ROOMS))
        if path.suffix == ".py"
    }
    return _digest(sources)


def _steps(record: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the steps of a file with their reasons. Raises ValueError where it has none."""
    if not isinstance(record["steps"], list):
        raise ValueError("steps are a list")
    for taken in record["steps"]:
        if not isinstance(taken["why"], str):
            raise ValueError("a reason is a text")
        yield taken["step"], taken["why"]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8")).hexdigest()
