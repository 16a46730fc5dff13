"""A library of two units and a header, with the functions as ctypes calls them."""

import ctypes
from pathlib import Path

from workbench.backends.native.building.c_units import Unit

EXPORT = '__attribute__((visibility("default")))'
HEADERS = {"runtime.h": "#define FACTOR 2.0\ndouble twice(double x);\n", "unused.h": "#error\n"}
RUNTIME = Unit("runtime", '#include "runtime.h"\ndouble twice(double x) { return FACTOR * x; }\n')
KERNEL = Unit(
    "kernel",
    f'#include "runtime.h"\n{EXPORT} double call(double x) {{ return twice(x) + 1.0; }}\n',
)
UNITS = [RUNTIME, KERNEL]


def call(path: Path, x: float) -> float:
    """The value of the function `call` in a library: 2 x + 1."""
    function = ctypes.CDLL(str(path)).call
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    value: float = function(x)
    return value
