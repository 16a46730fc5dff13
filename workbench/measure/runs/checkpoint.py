"""The values carried over a run's last update, as a safetensors file, and a run that goes on from
it.

Tensors are named like the arrays whose last values they are: `parameters.actor.weight_1`,
`optimizer.m.actor.weight_1`, `state`. The file's metadata holds the program that wrote them, its
sizes, seed and dtype, and the number of updates before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.errors import WorkbenchError, nearest
from workbench.program.carrying.carried import Start, along, beginnings, starts
from workbench.program.carrying.past import Past, pasts
from workbench.program.operations.shapes import shape_text
from workbench.program.values import Program

SHOWN = 5
"""The most tensors listed in a message."""

NOTHING = "has neither parameters (nn.parameters) nor another recurrence"

Tensors = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Tensors by name, and their origin. `whole`: a run goes on from all of them."""

    program: str = ""
    key: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    dtype: str = ""
    updates: int = 0
    tensors: Tensors = field(default_factory=dict, repr=False)
    source: str = "parameters"
    whole: bool = True


def expect_kept(program: Program) -> None:
    """Raise where a run of `program` hands nothing on."""
    if not starts(program.equations):
        raise WorkbenchError(f"{program.name} {NOTHING} to keep")


def expect_savable(program: Program, path: str | Path) -> None:
    """Raise where a run of `program` will have nothing to write, or nowhere to write it to."""
    if not starts(along(program).equations):
        raise WorkbenchError(f"{program.name} {NOTHING} to save")
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise WorkbenchError(f"{path}: there is no folder {folder}")


def save(checkpoint: Checkpoint, path: str | Path) -> None:
    """Write a safetensors file."""
    from safetensors.numpy import save_file

    metadata = {
        "program": checkpoint.program,
        "key": checkpoint.key,
        "sizes": json.dumps(dict(checkpoint.sizes)),
        "seed": str(checkpoint.seed),
        "dtype": checkpoint.dtype,
        "updates": str(checkpoint.updates),
    }
    tensors = {name: np.asarray(x, order="C") for name, x in checkpoint.tensors.items()}
    save_file(tensors, Path(path), metadata)


def opened(given: str | Path | Mapping[str, Any]) -> Checkpoint:
    """Return a file's checkpoint; or arrays by name, from which a new run starts."""
    if isinstance(given, Mapping):
        tensors = {str(name): np.asarray(values) for name, values in given.items()}
        return Checkpoint(tensors=tensors, whole=False)
    if not isinstance(given, str | Path):
        raise WorkbenchError(
            f"parameters={given!r}; expected a safetensors file or a mapping from name to array"
        )
    return load(given)


def load(path: str | Path) -> Checkpoint:
    """Read the checkpoint that `save` wrote. A file of tensors alone, from elsewhere, is arrays by
    name.
    """
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise WorkbenchError(f"there is no file {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise WorkbenchError(f"{path} is not a whole safetensors file: {error}") from None
    if "updates" not in metadata:
        return Checkpoint(tensors=tensors, source=str(path), whole=False)
    try:
        return Checkpoint(
            program=metadata["program"],
            key=metadata["key"],
            sizes=json.loads(metadata["sizes"]),
            seed=int(metadata["seed"]),
            dtype=metadata["dtype"],
            updates=int(metadata["updates"]),
            tensors=tensors,
            source=str(path),
        )
    except (KeyError, ValueError) as error:
        raise WorkbenchError(f"{path} has metadata that cannot be read: {error!r}") from None


def fitting(
    checkpoint: Checkpoint, program: Program, sizes: Mapping[str, int], dtype: str
) -> dict[str, npt.NDArray[Any]]:
    """Return the tensors as a run of `program` takes them; misfits are listed with their shapes."""
    carried: tuple[Start | Past, ...] = beginnings(program.equations)
    if checkpoint.whole:
        kept = (past for past in pasts(program.equations) if past.is_kept)
        carried = (*starts(program.equations), *kept)
    wanted = {one.name: one for one in carried}
    if not wanted:
        raise WorkbenchError(f"{program.name} {NOTHING} to start from")
    if checkpoint.whole and program.externals:
        outside = ", ".join(e.name for e in program.externals)
        raise WorkbenchError(
            f"{program.name} cannot go on from {checkpoint.source}: the state of {outside} lies "
            "outside the program and is not in the file; to start anew from the parameters in it: "
            "parameters={name: x for name, x in safetensors.numpy.load_file(…).items() "
            "if name.startswith('parameters.')}"
        )
    answered = [name for name in checkpoint.tensors if name in wanted and wanted[name].outside]
    if answered:
        raise WorkbenchError(
            f"{checkpoint.source} has {', '.join(answered)}, which {program.name} takes from "
            f"{', '.join(e.name for e in program.externals)} at the start of a run; leave them out"
        )
    tensors, wrong = {}, []
    for name in (n for n in wanted if n in checkpoint.tensors):
        values = checkpoint.tensors[name]
        shape = tuple(n.evaluate(sizes) for n in wanted[name].shape_after(checkpoint.updates))
        if values.shape != shape:
            wrong.append(f"{name} is {shape_text(values.shape)}, expected {shape_text(shape)}")
        elif not _same_kind(values, wanted[name]):
            wrong.append(f"{name} is {values.dtype}, expected {wanted[name].array.dtype}")
        else:
            real = dtype if wanted[name].array.dtype == "float" else values.dtype
            tensors[name] = np.asarray(values, real, order="C")
    for name in (n for n in checkpoint.tensors if n not in wanted):
        offered = "" if checkpoint.whole else f" ({nearest(name, wanted, 'tensors')})"
        shape_found = shape_text(checkpoint.tensors[name].shape)
        wrong.append(f"{name} {shape_found} is none of the program's{offered}")
    if checkpoint.whole:
        wrong += [f"{name} is missing" for name in wanted if name not in checkpoint.tensors]
    if wrong:
        more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise WorkbenchError(
            f"{checkpoint.source} does not fit {program.name}: {'; '.join(wrong[:SHOWN])}{more}"
        )
    return tensors


def _same_kind(values: npt.NDArray[Any], start: Start | Past) -> bool:
    """Tell whether the kinds agree: floats and integers of any width are converted; nothing else
    is.
    """
    kind = {"float": "fiu", "bool": "b"}.get(start.array.dtype, "iu")
    return values.dtype.kind in kind
