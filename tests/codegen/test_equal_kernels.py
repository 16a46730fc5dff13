"""Kernels whose text is equal but for names and places are one function."""

import re
from collections.abc import Collection
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import run_native
from workbench import nn, optim
from workbench.backends.numpy import NumPyBackend
from workbench.codegen.kernels import program_kernels
from workbench.codegen.printing.program.equal_kernels import Call, Functions
from workbench.codegen.printing.program.program_text import program_text

OWN = ("x", "y", "z", "i", "e", "x1", "x2")


def kernel(name: str, line: str, given: str = "int64_t i, int64_t e", place: int = 3) -> str:
    """A function that does one thing with an array x."""
    declared = f"void {name}(Run *run, {given}) {{"
    return f"{declared}\n    float *const x = (float *)run->buffers[{place}];\n    {line}\n}}\n"


def functions_of(one: str, two: str) -> tuple[dict[str, str], dict[str, Call]]:
    """What comes of two kernels of these names."""
    return of_kernels({"one": (one, OWN), "two": (two, OWN)})


def of_kernels(
    kernels: dict[str, tuple[str, Collection[str] | None]],
) -> tuple[dict[str, str], dict[str, Call]]:
    """What comes of kernels by name: their texts, and what they call things themselves."""
    functions = Functions()
    texts = {name: functions.add(name, *kernel) for name, kernel in kernels.items()}
    return {name: text for name, text in texts.items() if text is not None}, functions.calls


def test_names_and_places_alone_make_no_other_function() -> None:
    one = kernel("one", "x[i] = 0x1p+0 + run->buffers[7][i]; /* statement: one */")
    two = kernel("two", "x[i] = 0x1p+0 + run->buffers[9][i]; /* statement: two */", place=8)
    two = two.replace("x =", "y =").replace("x[i]", "y[i]")
    functions, calls = functions_of(one, two)
    assert calls == {"one": Call("one", (3, 7)), "two": Call("one", (8, 9))}
    (text,) = functions.values()
    assert text.startswith("void one(Run *run, const int32_t *places, int64_t i, int64_t e) {")
    assert "(float *)run->buffers[places[0]];" in text
    assert "x[i] = 0x1p+0 + run->buffers[places[1]][i];" in text


def test_scratch_memory_is_a_place() -> None:
    line = "char *const scratch = run->arena + run->scratch[{}];"
    _, calls = functions_of(kernel("one", line.format(4)), kernel("two", line.format(5)))
    assert calls == {"one": Call("one", (3, 4)), "two": Call("one", (3, 5))}


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("x[i] = 0x1p+0;", "x[i] = 0x2p+0;"),
        ("x1 = 0x1.8p+0;", "x2 = 0x2.8p+0;"),
        ("x[i] = x[i] + x[e];", "x[i] = x[e] + x[i];"),
        ("x[i] = y + y;", "x[i] = y + z;"),
        ("x[i] = run->sizes[0];", "x[i] = run->sizes[1];"),
        ("require(run, 1, i);", "require(run, 2, i);"),
        ("x[i] = add_vf(x, y);", "x[i] = multiply_vf(x, y);"),
    ],
)
def test_anything_else_does(one: str, two: str) -> None:
    functions, calls = functions_of(kernel("one", one), kernel("two", two))
    assert calls == {"one": Call("one", (3,)), "two": Call("two", (3,))}
    assert set(functions) == {"one", "two"}


def test_other_loops_around_are_another_function() -> None:
    one, two = kernel("one", "x[i] = 1;"), kernel("two", "x[i] = 1;", given="int64_t i")
    assert set(functions_of(one, two)[0]) == {"one", "two"}


def test_kernel_whose_names_are_unknown_stays_alone() -> None:
    one, two = kernel("one", "x[i] = 1;"), kernel("two", "x[i] = 1;")
    functions, calls = of_kernels({"one": (one, OWN), "two": (two, None)})
    assert functions["two"] == two
    assert calls["two"] == Call("two")


def test_kernel_that_touches_no_array_is_told_nothing() -> None:
    one, two = (f"void {name}(Run *run) {{\n    run->stop = 1;\n}}\n" for name in ("one", "two"))
    functions, calls = functions_of(one, two)
    assert functions == {"one": one}
    assert calls == {"one": Call("one"), "two": Call("one")}


@wb.program
def twins(I: int = 4) -> dict[str, Any]:
    """Two networks of one shape that learn to give 1 and -1, by an optimizer with a state."""
    (i,) = wb.dims(i=I)
    networks = [nn.mlp(name, 3, (4,), 1) for name in ("left", "right")]
    theta = nn.parameters(*networks, over=i)
    x = wb.stack([0.5, -1.0, 2.0])
    left, right = (network(theta, x)[..., 0] for network in networks)
    loss = (left - 1.0) ** 2 + (right + 1.0) ** 2
    theta.update(optim.adam(wb.gradient(loss, theta), 0.1))
    return {"loss": loss, "left": left, "right": right}


def test_two_networks_of_one_shape_learn_by_the_same_functions() -> None:
    text = program_text(program_kernels(twins()), "float64")
    compiled = re.findall(r"^void (kernel_\w+)\(.*\{$", str(text), re.MULTILINE)
    assert len(compiled) <= len(text.kernels) * 2 / 3
    assert set(compiled) < set(text.kernels)
    assert all("places" not in kernel for kernel in text.kernels.values())
    wanted = NumPyBackend().compile(twins()).run(dtype="float64").outputs
    for name, values in run_native(twins()).items():
        np.testing.assert_allclose(values, wanted[name], rtol=1e-12, err_msg=name)
