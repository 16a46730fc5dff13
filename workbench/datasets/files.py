"""Files of rows: NumPy's, safetensors, Parquet, and data sets of Minari's.

What a file holds plainly is mapped: it is read when it is asked for. Parquet, Minari and what is
compressed are read whole. Their packages are imported here, where they are used.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.errors import UnavailableError, WorkbenchError, installing, nearest

Columns = Mapping[str, npt.NDArray[Any]]
MINARI = "minari:"
"""The beginning of the name of a data set of Minari's, where a file is expected."""
HEAD_BYTES = 8
"""The length of what tells the length of the header of a safetensors file."""
SAFETENSORS = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}


def columns_in(name: str, path: str | Path, wanted: Iterable[str]) -> Columns:
    """Return the columns of the data set `name` from a file or a folder; of Minari's data sets the
    `wanted` ones. Raises WorkbenchError for what cannot be read.
    """
    if str(path).startswith(MINARI):
        return _stored_by_minari(name, str(path).removeprefix(MINARI), wanted)
    path = Path(path)
    if not path.exists():
        raise WorkbenchError(f"data {name!r}: there is no file {path}")
    kind = "" if path.is_dir() else path.suffix
    if kind not in READERS:
        known = ", ".join(ending for ending in READERS if ending)
        raise WorkbenchError(
            f"data {name!r}: {path} ends in {path.suffix!r}; expected {known}, a folder of .npy "
            f"files, a column each, or {MINARI}NAME"
        )
    try:
        return READERS[kind](name, path)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise WorkbenchError(f"data {name!r}: {path} cannot be read: {error}") from None


def _folder(name: str, path: Path) -> Columns:
    files = sorted(path.glob("*.npy"))
    if not files:
        raise WorkbenchError(f"data {name!r}: the folder {path} has no .npy files, one a column")
    return {file.stem: np.load(file, mmap_mode="r", allow_pickle=False) for file in files}


def _npy(name: str, path: Path) -> Columns:
    rows = np.load(path, mmap_mode="r", allow_pickle=False)
    if rows.dtype.names is None:
        raise WorkbenchError(
            f"data {name!r}: {path} is an array of {rows.dtype}; expected a structured one, a "
            "folder of .npy files, a column each, or an .npz file"
        )
    return {column: rows[column] for column in rows.dtype.names}


def _npz(name: str, path: Path) -> Columns:
    with zipfile.ZipFile(path) as archive, np.load(path, allow_pickle=False) as read:
        return {
            Path(one.filename).stem: _plainly_stored(path, one, archive)
            if one.compress_type == zipfile.ZIP_STORED
            else read[Path(one.filename).stem]
            for one in archive.infolist()
        }


def _plainly_stored(path: Path, one: zipfile.ZipInfo, archive: zipfile.ZipFile) -> npt.NDArray[Any]:
    """Map an array that an archive holds as it is."""
    with archive.open(one) as member:
        version = np.lib.format.read_magic(member)
        header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, turned, dtype = header(member)
        begin = member.tell()
    if dtype.hasobject:
        raise ValueError(f"{one.filename} holds objects")
    with path.open("rb") as file:
        file.seek(one.header_offset + 26)
        lengths = np.frombuffer(file.read(4), "<u2")
        place = one.header_offset + 30 + int(lengths.sum()) + begin
    return np.memmap(path, dtype, "r", place, shape, "F" if turned else "C")


def _safetensors(name: str, path: Path) -> Columns:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(HEAD_BYTES), "little")
        if length > path.stat().st_size:
            raise ValueError("it is no safetensors file")
        header = json.loads(file.read(length))
    columns = {}
    for column, told in header.items():
        if column == "__metadata__":
            continue
        if told["dtype"] not in SAFETENSORS:
            raise ValueError(f"column {column} is {told['dtype']}, which NumPy has not")
        begin, end = (HEAD_BYTES + length + n for n in told["data_offsets"])
        dtype, shape = np.dtype(SAFETENSORS[told["dtype"]]), tuple(told["shape"])
        if end - begin != int(np.prod(shape, dtype=np.int64)) * dtype.itemsize:
            raise ValueError(f"column {column} has another length than its shape")
        if end > path.stat().st_size:
            raise ValueError(f"it ends within column {column}")
        empty = begin == end
        columns[column] = (
            np.empty(shape, dtype) if empty else np.memmap(path, dtype, "r", begin, shape)
        )
    return columns


def _parquet(name: str, path: Path) -> Columns:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise UnavailableError(
            f"data {name!r}: pyarrow reads {path}, and is not installed: {installing('pyarrow')}"
        ) from None
    try:
        table = parquet.read_table(path)
    except ArrowException as error:
        raise ValueError(str(error)) from None
    return {c: _values(c, table.column(c).combine_chunks()) for c in table.column_names}


def _values(column: str, values: Any) -> npt.NDArray[Any]:
    """Return an Arrow array as one of NumPy's; lists of one length are an inner axis."""
    from pyarrow import types

    if values.null_count:
        raise ValueError(f"column {column} has {values.null_count} missing values")
    if types.is_list(values.type) or types.is_fixed_size_list(values.type):
        inner, count = _values(column, values.flatten()), len(values)
        lengths = {len(one) for one in values} if types.is_list(values.type) else set()
        if len(lengths) > 1:
            raise ValueError(f"column {column} has lists of several lengths")
        return inner.reshape(count, -1, *inner.shape[1:])
    array: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return array


READERS: dict[str, Callable[[str, Path], Columns]] = {
    "": _folder,
    ".npy": _npy,
    ".npz": _npz,
    ".safetensors": _safetensors,
    ".parquet": _parquet,
}
"""The reader of each kind of file, by its ending; a folder has none."""


def _stored_by_minari(name: str, stored: str, wanted: Iterable[str]) -> Columns:
    """Return columns of a data set that Minari keeps on this machine."""
    try:
        import minari
    except ImportError:
        raise UnavailableError(
            f"data {name!r}: minari reads {MINARI}{stored}, and is not installed: "
            f"{installing('minari')}"
        ) from None
    try:
        found = minari.load_dataset(stored)
    except Exception as error:  # its own kinds of errors differ between versions
        raise WorkbenchError(f"data {name!r}: minari cannot load {stored!r}: {error}") from None
    return columns_of_episodes(name, found.iterate_episodes(), wanted)


EPISODE_COLUMNS: dict[str, Callable[[Any], Any]] = {
    "observation": lambda episode: episode.observations[:-1],
    "following": lambda episode: episode.observations[1:],
    "action": lambda episode: episode.actions,
    "reward": lambda episode: episode.rewards,
    "terminated": lambda episode: episode.terminations,
    "truncated": lambda episode: episode.truncations,
}
"""The columns of episodes: a row a step, with the observation before it and the one `following`."""


def columns_of_episodes(name: str, episodes: Iterable[Any], wanted: Iterable[str]) -> Columns:
    """Return the wanted columns of Minari's episodes, one behind the other."""
    wanted, episodes = list(wanted), list(episodes)
    for column in wanted:
        if column not in EPISODE_COLUMNS:
            offered = nearest(column, EPISODE_COLUMNS, "columns")
            raise WorkbenchError(f"data {name!r}: episodes have no column {column!r}: {offered}")
    if not episodes:
        raise WorkbenchError(f"data {name!r}: there is no episode")
    columns = {}
    for column in wanted:
        parts = [EPISODE_COLUMNS[column](episode) for episode in episodes]
        if not all(isinstance(part, np.ndarray) for part in parts):
            raise WorkbenchError(
                f"data {name!r}: column {column} of the episodes is {type(parts[0]).__name__}; "
                "expected arrays: pass the parts of a Dict or Tuple space by column"
            )
        columns[column] = np.concatenate(parts)
    return columns
