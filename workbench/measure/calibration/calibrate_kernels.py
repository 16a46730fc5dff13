"""The constants of compiled kernels, from the seconds of the probes."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Mapping

from workbench.backends.native.backend import NativeBackend
from workbench.backends.native.building.compilers import find
from workbench.codegen.kernel_records import LANES
from workbench.measure.calibration import kernel_probes as probes
from workbench.measure.calibration.probes import WORKING_SETS
from workbench.planning.cost.kernels.kernel_steps import ONE, OWN_KINDS
from workbench.planning.machine.constants import Machine
from workbench.planning.machine.defaults import DEFAULTS

KINDS = tuple(DEFAULTS["native"].element)
GROUPS = probes.N // LANES
FLOATS = ("float32", "float64")


def measured_kernels() -> Machine:
    """Measure the constants of this machine's compiled kernels.

    Raises UnavailableError where there is no C compiler.
    """
    compiler = find()
    spent = {dtype: probes.seconds(dtype) for dtype in FLOATS}
    single = spent["float32"]
    built_in = DEFAULTS["native"]
    element = {dtype: _elements(seconds) for dtype, seconds in spent.items()}
    product, panel, row, widths = {}, {}, {}, {}
    for dtype, seconds in spent.items():
        product[dtype], panel[dtype], row[dtype] = _product(seconds)
        widths[dtype] = _widths(seconds, product[dtype], panel[dtype], row[dtype])
    return Machine(
        backend="native",
        call={
            "elementwise": single["launch"],
            "launch": max(single["launch"], built_in.call["launch"]),
            "threads": built_in.call["threads"],
            "begin": single["begin alone"],
            "begin kernel": single["begin kernel"],
            "external": built_in.call["external"],
        },
        row={
            "elementwise": 0.0,
            "loop": single["loop"] / probes.N,
            "product": row["float32"],
        },
        element={kind: {d: rates[kind] for d, rates in element.items()} for kind in KINDS},
        byte=tuple((size, single[f"bytes {size}"] / size) for size in WORKING_SETS),
        product=product,
        panel=panel,
        widths=widths["float32"],
        fresh=0.0,
        cold=1.0,
        device=NativeBackend().device(),
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions={"python": platform.python_version(), "compiler": str(compiler)},
    )


def _elements(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of operations of a group of lanes by kind, those of one number, and those
    of other elements.
    """
    elementwise, base = _chain(seconds, "")

    def beyond(name: str) -> float:
        return max(0.0, seconds[name] - base) / GROUPS

    of_access = {
        "load": max(0.0, beyond("load") / (probes.CHAIN - 1) - elementwise),
        "store": beyond("store") / (probes.CHAIN - 1),
        "gather": beyond("gather"),
        "check": beyond("check"),
        "total": seconds["total"],
        "chain": seconds["chain"] / probes.N,
    }
    one, _ = _chain(seconds, ONE)
    few = seconds[f"{ONE}few"] / probes.N
    access = max(0.0, few - probes.FEW * one) / 2
    rows, _, times = 16, 1, 64
    return (
        _functions(seconds, "", GROUPS)
        | _functions(seconds, ONE, probes.N)
        | of_access
        | {
            f"{ONE}load": access,
            f"{ONE}store": access,
            "lone sum": seconds["lone sum"] / (rows * times),
            "lane_sums": seconds["lane_sums"] / (64 * 32),
            "turned": seconds["turned"] / (64 * 32),
            "permutation": seconds["permutation"] / probes.N,
            "orthogonalize": DEFAULTS["native"].element["orthogonalize"]["float32"],
        }
    )


def _chain(seconds: Mapping[str, float], one: str) -> tuple[float, float]:
    """Return the seconds of an operation, and those of a probe without any."""
    count = GROUPS if not one else probes.N
    more = seconds[f"{one}many"] - seconds[f"{one}few"]
    elementwise = max(0.0, more) / count / (probes.CHAIN - probes.FEW)
    return elementwise, seconds[f"{one}few"] - probes.FEW * elementwise * count


def _functions(seconds: Mapping[str, float], one: str, count: int) -> dict[str, float]:
    """Return the seconds of each kind of operation, `count` of which a probe has."""
    elementwise, base = _chain(seconds, one)

    def beyond(name: str) -> float:
        return max(0.0, seconds[f"{one}{name}"] - base) / count

    uniform = max(0.0, beyond("uniforms") - beyond("uniform")) / 3
    draw = max(0.0, beyond("uniform") - uniform)
    rates = {name: max(elementwise, beyond(name)) for name in OWN_KINDS}
    rates |= {"elementwise": elementwise, "uniform": uniform, "draw": draw}
    rates["normal"] = max(0.0, beyond("normal") - draw)
    return {f"{one}{name}": rate for name, rate in rates.items()}


def _product(seconds: Mapping[str, float]) -> tuple[float, float, float]:
    """Return the seconds of an operation of arithmetic, of an element of the result, and of a
    call.
    """
    spent = {name: seconds[f"product {name}"] for name in probes.PRODUCTS}
    count = {name: 2.0 * r * c * t for name, (r, c, t) in probes.PRODUCTS.items()}
    call = spent["small"]
    wide = f"of {probes.WIDTHS[0]}"
    large, short = probes.PRODUCTS[wide], probes.PRODUCTS["short"]
    # both have the same result: what they differ by is arithmetic
    rate = (spent[wide] - spent["short"]) / (count[wide] - count["short"])
    assert large[:2] == short[:2]
    panel = (spent["short"] - call - count["short"] * rate) / (short[0] * short[1])
    return rate, max(0.0, panel), call


def _widths(
    seconds: Mapping[str, float], rate: float, panel: float, call: float
) -> tuple[tuple[int, float], ...]:
    """Return how many times as long an operation takes in a group of so many columns."""
    found = [(probes.WIDTHS[0], 1.0)]
    for width in probes.WIDTHS[1:]:
        rows, columns, times = probes.PRODUCTS[f"of {width}"]
        alone = seconds[f"product of {width}"] - call - panel * rows * columns
        found.append((width, max(1.0, alone / (2.0 * rows * columns * times * rate))))
    return tuple(found)
