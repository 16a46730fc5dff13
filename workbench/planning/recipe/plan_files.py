"""Files of plans in the user's cache directory, by program and aim: the steps taken, each with the
program after it and its reason.

A plan is what it was when it was made: its steps were checked then, and a file is found only by the
same code for an equal program. One that is damaged is removed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from workbench import cache_files
from workbench.folders import cache_directory
from workbench.planning.recipe.aim import Aim
from workbench.planning.recipe.plan import Plan
from workbench.processor import core_cache
from workbench.program.made_files import digest, dumped, loaded, made_of, sealed, unsealed
from workbench.program.values import Program

LIMIT = 10**8
"""The bytes that the files may have together: a plan of a few steps has half a million."""

SUFFIX = ".plan"


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
        all_of_it = {
            **made_of(program),
            "objective": aim.objective,
            "capacity": aim.capacity,
            "machine": asdict(aim.machine),
            "cache": core_cache().bytes,
            "dtype": aim.dtype,
            "threads": aim.threads,
            "lengths": [(open, one.shape, one.data.hex()) for open, one in aim.lengths.known],
        }
        return cls(folder() / digest(all_of_it))

    def find(self, program: Program, sizes: Mapping[str, int]) -> Plan | None:
        """Return a stored plan of the program for these sizes; None where there is none."""
        for path in self._paths():
            try:
                asked, _, data = unsealed(path.read_bytes()).partition(b"\n")
                if any(sizes[name] != size for name, size in json.loads(asked)):
                    continue
                plan = Plan(program, loaded(data, program))
            except OSError:  # another process removed it
                continue
            except ValueError:
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
        data, asked = dumped(plan.taken, plan.start), sorted(sizes.items())
        if data is None:
            return
        with contextlib.suppress(OSError):
            with cache_files.writing(self.place / f"{digest(asked)}{SUFFIX}") as file:
                file.write(sealed(json.dumps(asked).encode("utf-8") + b"\n" + data))
            evict()

    def _paths(self) -> list[Path]:
        try:
            return sorted(self.place.glob(f"[!.]*{SUFFIX}"))
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
