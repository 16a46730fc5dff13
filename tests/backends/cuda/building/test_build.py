"""Machine code of GPUs in files: units, what is kept, and what is said where it cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.kernels.programs import Whole
from workbench.algorithms import reinforce
from workbench.backends.compiling import cache
from workbench.backends.cuda.building import build, nvrtc
from workbench.backends.cuda.building.assembler import spilling
from workbench.backends.cuda.building.build import cubins, units
from workbench.codegen.cuda.functions import Function
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernels import program_kernels
from workbench.errors import CompilerError
from workbench.transforms import Persist
from workbench.variants.variant import variant


@pytest.fixture(scope="module")
def made() -> list[Function]:
    program = variant(reinforce(hidden=(4,))).apply(Persist("b", 16)).program
    return list(functions(program_kernels(program), "float32"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(build, "usable_cores", lambda: 2)
    return tmp_path


def test_units_have_all_functions_and_about_as_much_work(made: list[Function]) -> None:
    parts = units(made)
    assert len(parts) == 2
    assert sorted(f.name for part in parts for f in part) == sorted(f.name for f in made)
    each = [sum(map(build.work, part)) for part in parts]
    assert max(each) - min(each) <= max(map(build.work, made))


def test_what_takes_the_compiler_long_counts_as_more_text(made: list[Function]) -> None:
    """Six calls of QR are in a unit of their own, beside two that have more text."""
    qr = "block_orthogonalize_f(x, 0, y, 0, 4, 5, spare, 0, thread);\n"
    texts = (qr * 6, "x" * 20_000, "x" * 20_000)
    alone, others = units([replace(made[0], text=text) for text in texts])
    assert ([f.text for f in alone], len(others)) == ([texts[0]], 2)


def test_what_was_compiled_is_found(made: list[Function], folder: Path) -> None:
    paths, work = cubins(made[:2], "sm_90")
    assert work.seconds > 0 and all(path.parent == folder / cache.CUBINS for path in paths)
    for path, part in zip(paths, units(made[:2]), strict=True):
        code = path.read_bytes()
        assert code.startswith(b"\x7fELF") and part[0].name.encode() in code
    assert cubins(made[:2], "sm_90") == (paths, build.CompilerWork(0.0, 0.0))
    others, _ = cubins(made[:2], "sm_80")
    assert not set(others) & set(paths)


def test_a_kernel_that_would_spill_beside_another_has_more_registers() -> None:
    """The longest learns: two blocks side by side have too few for it, whatever it keeps."""
    program = Whole("ppo", "Acrobot", "in blocks").variant().program
    found = functions(gpu_kernels(program_kernels(program)), "float32")
    made = [next(f for f in found if f.name.startswith("kernel_loss_a_sum_2"))]
    assert spilling(nvrtc.compiled(build._text(made), "sm_90").log)
    assert not spilling("\n".join(unit.log for unit in build.compiled(made, "sm_90")))


def test_a_text_that_is_refused_is_kept_and_its_statement_told(
    made: list[Function], folder: Path
) -> None:
    longest = max(made, key=lambda function: len(function.text))
    broken = replace(longest, text=longest.text.replace("ST(", "STORED("))
    with pytest.raises(CompilerError, match=r"NVRTC .* failed for sm_90") as error:
        cubins([broken], "sm_90")
    assert error.value.source is not None and error.value.source.is_relative_to(folder)
    assert "STORED(" in error.value.source.read_text(encoding="utf-8")
    assert error.value.statement
    assert not list((folder / cache.CUBINS).glob("*"))
