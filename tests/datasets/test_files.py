"""Files of rows: each holds what NumPy has, and is mapped where it can be."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import workbench as wb
from tests.datasets.logs import averages, log, truth
from workbench.datasets.files import columns_in
from workbench.datasets.rows import GivenRows
from workbench.errors import UnavailableError, WorkbenchError

ROWS = 10


def folder(path: Path, rows: dict[str, Any]) -> Path:
    where = path / "log"
    where.mkdir()
    for name, x in rows.items():
        np.save(where / f"{name}.npy", x)
    return where


def structured(path: Path, rows: dict[str, Any]) -> Path:
    made = np.empty(ROWS, [(name, x.dtype, x.shape[1:]) for name, x in rows.items()])
    for name, x in rows.items():
        made[name] = x
    np.save(path / "log.npy", made)
    return path / "log.npy"


def npz(path: Path, rows: dict[str, Any]) -> Path:
    np.savez(path / "log.npz", **rows)
    return path / "log.npz"


def compressed(path: Path, rows: dict[str, Any]) -> Path:
    np.savez_compressed(path / "log.npz", **rows)
    return path / "log.npz"


def tensors(path: Path, rows: dict[str, Any]) -> Path:
    save_file(rows, path / "log.safetensors", {"from": "a test"})
    return path / "log.safetensors"


def parquet(path: Path, rows: dict[str, Any], fixed: bool = True) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def column(x: Any) -> Any:
        if x.ndim == 1:
            return pyarrow.array(x)
        flat = pyarrow.array(x.ravel())
        if fixed:
            return pyarrow.FixedSizeListArray.from_arrays(flat, x.shape[1])
        return pyarrow.array(list(x))

    parquet.write_table(
        pyarrow.table({name: column(x) for name, x in rows.items()}), path / "log.parquet"
    )
    return path / "log.parquet"


def lists(path: Path, rows: dict[str, Any]) -> Path:
    return parquet(path, rows, fixed=False)


KINDS: dict[str, tuple[Callable[[Path, dict[str, Any]], Path], bool]] = {
    "folder": (folder, True),
    "structured": (structured, True),
    "npz": (npz, True),
    "compressed npz": (compressed, False),
    "safetensors": (tensors, True),
    "parquet": (parquet, False),
    "parquet of lists": (lists, False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_the_rows_that_were_written(tmp_path: Path, kind: str) -> None:
    write, mapped = KINDS[kind]
    rows = log(ROWS)
    path = write(tmp_path, rows)
    columns = columns_in("log", path, rows)
    for name, x in rows.items():
        np.testing.assert_array_equal(columns[name], x, err_msg=name)
        assert columns[name].dtype == x.dtype
        assert isinstance(columns[name], np.memmap) is mapped
    found = wb.run(averages(), "numpy", data={"log": path}, dtype="float64", progress=False)
    np.testing.assert_allclose(found["mean"], truth(rows, 2)["mean"], rtol=1e-12)


@pytest.mark.parametrize("kind", ["folder", "npz", "safetensors", "arrays", "mapped"])
def test_rows_go_to_another_process_without_what_a_file_holds(tmp_path: Path, kind: str) -> None:
    rows = {**log(50_000), "near": np.zeros(50_000, np.int32)}
    given: Any = rows
    if kind == "mapped":
        where = folder(tmp_path, rows)
        given = {name: np.load(where / f"{name}.npy", mmap_mode="r") for name in rows}
    elif kind != "arrays":
        given = str(KINDS[kind][0](tmp_path, rows))
    sent = pickle.dumps(GivenRows(averages().equations, {"log": given}))
    assert (len(sent) < 100_000) is (kind != "arrays")
    sizes = {"W": 2, "K": 25_000, "I": 2}
    found = pickle.loads(sent).tables(sizes, "float64")
    np.testing.assert_array_equal(found["log.x"].reshape(-1, 3), rows["x"])


def of_text(path: Path, name: str, content: bytes) -> Path:
    (path / name).write_bytes(content)
    return path / name


def with_a_missing_value(path: Path) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"x": [1.0, None]}), path / "log.parquet")
    return path / "log.parquet"


def cut(path: Path) -> Path:
    whole = tensors(path, log(ROWS)).read_bytes()
    return of_text(path, "cut.safetensors", whole[:-8])


def plain(path: Path) -> Path:
    np.save(path / "x.npy", np.zeros(3))
    return path / "x.npy"


REFUSED: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no file": (lambda path: path / "none.npz", "there is no file"),
    "another ending": (
        lambda path: of_text(path, "log.csv", b"x\n1\n"),
        "ends in '.csv'; expected .npy, .npz, .safetensors, .parquet, a folder of .npy files",
    ),
    "an empty folder": (lambda path: path, "has no .npy files, one a column"),
    "a plain array": (plain, "is an array of float64; expected a structured one"),
    "no npz": (lambda path: of_text(path, "log.npz", b"nothing"), "cannot be read: File is not"),
    "no npy": (lambda path: of_text(path, "log.npy", b"nothing"), "cannot be read"),
    "no safetensors": (lambda path: of_text(path, "log.safetensors", b"nothing at all"), "no safe"),
    "a cut file": (cut, "it ends within column"),
    "no parquet": (lambda path: of_text(path, "log.parquet", b"nothing"), "cannot be read"),
    "missing values": (with_a_missing_value, "column x has 1 missing values"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_files_refused(tmp_path: Path, name: str) -> None:
    make, sentence = REFUSED[name]
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    path = make(tmp_path)
    with pytest.raises(WorkbenchError) as error:
        columns_in("log", path, ["x"])
    assert error.value.message.startswith("data 'log': ")
    assert sentence in error.value.message


@pytest.mark.parametrize(
    ("package", "source"), [("pyarrow", "log.parquet"), ("minari", "minari:a/b-v0")]
)
def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, source: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    given = source if ":" in source else of_text(tmp_path, source, b"")
    with pytest.raises(UnavailableError) as error:
        columns_in("log", given, ["x"])
    assert f"data 'log': {package} reads" in error.value.message
    assert error.value.message.endswith(f"-m pip install {package}")


def episode(steps: int, seed: int) -> Any:
    """An episode as Minari has it: an observation more than steps."""
    random = np.random.default_rng(seed)
    return SimpleNamespace(
        observations=random.standard_normal((steps + 1, 4)),
        actions=random.integers(0, 2, steps),
        rewards=random.standard_normal(steps),
        terminations=np.arange(steps) == steps - 1,
        truncations=np.zeros(steps, bool),
    )


@wb.program
def transitions(K: int = 4) -> dict[str, Any]:
    """The mean of what steps change."""
    k = wb.dim(k=K)
    log = wb.data("log", {"observation": (float, (4,)), "following": (float, (4,))}, over=k)
    return {"change": (log["following"] - log["observation"]).mean(over=k)}


def test_episodes_of_minari_are_a_row_a_step() -> None:
    episodes = [episode(3, 0), episode(5, 1)]
    source = SimpleNamespace(iterate_episodes=lambda: iter(episodes))
    found = wb.run(transitions(), "numpy", data={"log": source}, dtype="float64", progress=False)
    changes = np.concatenate([np.diff(one.observations, axis=0) for one in episodes])
    assert found.sizes == {"K": 8}
    np.testing.assert_allclose(found["change"], changes.mean(axis=0), rtol=1e-12)


def test_a_column_that_episodes_lack_is_refused() -> None:
    source = SimpleNamespace(iterate_episodes=lambda: iter([episode(3, 0)]))
    with pytest.raises(
        WorkbenchError, match="episodes have no column 'x': the columns are observation"
    ):
        GivenRows(averages().equations, {"log": source})
